export const ENGINES = ['sqlite', 'postgres'] as const;

export type Engine = (typeof ENGINES)[number];

/** Where the process that is searched finds its stores. */
export type StoreUrls = Readonly<Record<Engine, string>>;
