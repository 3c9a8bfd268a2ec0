export default { plugins: [['remark-validate-links', { repository: false }]] };
