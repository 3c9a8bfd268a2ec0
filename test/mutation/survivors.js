/**
 * Why some changes go unnoticed, for the report.
 *
 * @type {readonly { file: string, changes: readonly string[], reason: string }[]}
 */
export const SURVIVORS = [];
