export declare function serveTasks(
  tasks: Readonly<Record<string, (input: never) => unknown>>,
  options?: { readonly mustEndByItself?: boolean },
): void;
