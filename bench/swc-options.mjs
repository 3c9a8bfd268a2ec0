/** How swc compiles TypeScript into what runs in Node as it stands, like tsc by tsconfig.json. */
export const SWC_OPTIONS = {
  jsc: {
    parser: { syntax: 'typescript', decorators: true },
    transform: { legacyDecorator: true, decoratorMetadata: true },
    target: 'es2022',
    experimental: { keepImportAttributes: true },
  },
};
