import { codeOf } from './driver-code.js';

/** The package that speaks with the database is not installed. */
export class MissingDriverError extends Error {
  constructor(packages: string) {
    super(`a package is missing: npm install ${packages}`);
  }
}

/** Imports a package that only some need. */
export async function importDriver<T>(packages: string, load: () => Promise<T>): Promise<T> {
  try {
    return await load();
  } catch (error) {
    const code = codeOf(error);
    if (code === 'ERR_MODULE_NOT_FOUND' || code === 'MODULE_NOT_FOUND') throw new MissingDriverError(packages);
    throw error;
  }
}
