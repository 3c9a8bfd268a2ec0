export declare function findExecutable(...names: string[]): string | null;
export declare function requireExecutable(...names: string[]): string;
export declare const CHROMIUM_NAMES: string[];
