// What TypeScript puts into each file that has decorators, unless `noEmitHelpers` is set. Once is enough.
export function __decorate(decorators, target, key, desc) {
  const count = arguments.length;
  let result = count < 3 ? target : desc === null ? (desc = Object.getOwnPropertyDescriptor(target, key)) : desc;
  for (const decorate of [...decorators].reverse()) {
    if (decorate) result = (count < 3 ? decorate(result) : decorate(target, key, result)) || result;
  }
  if (count > 3 && result) Object.defineProperty(target, key, result);
  return result;
}

/** As in a host without `reflect-metadata`, where there is no metadata to keep. */
export function __metadata(key, value) {
  if (typeof Reflect.metadata === 'function') return Reflect.metadata(key, value);
}

export function __param(index, decorate) {
  return (target, key) => decorate(target, key, index);
}
