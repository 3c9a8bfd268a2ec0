/** The folders of lib from top to bottom. */
export const LAYERS: readonly (readonly string[])[];
