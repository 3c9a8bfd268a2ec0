export declare function findExecutable(...names: string[]): string | null;
export declare function requireExecutable(...names: string[]): string;
export declare function findGalera(): string | null;
export declare function requireFound(what: string, path: string | null): string;
export declare const CHROMIUM_NAMES: string[];
export declare const HEADLESS_SHELL: string;
