import { readFigures, reasonOf, scoreOf } from './figures.js';
import { SURVIVORS } from './survivors.js';

/** In percent, of each part. */
const WANTED = 90;
/** By how many points a part's score may differ from the committed one: tests with random input notice a little more or less. */
const MAX_DIFFERENCE = 1;

/** @returns {string[]} a part below what is wanted, each survivor without a reason, and each reason without a survivor */
export function problemsOf(part) {
  const figures = Object.entries(readFigures(part));
  const unjudged = figures.flatMap(([file, { survivors }]) =>
    survivors
      .filter(({ change }) => reasonOf(file, change) === null)
      .map(({ line, change }) => `${file}:${line} survived: ${change}`),
  );
  const unused = figures.flatMap(([file, { survivors }]) => {
    const survived = new Set(survivors.map(({ change }) => change));
    return SURVIVORS.filter((group) => group.file === file)
      .flatMap(({ changes }) => changes.filter((change) => !survived.has(change)))
      .map((change) => `${file}: survives no more: ${change}`);
  });
  const { percent } = scoreOf(figures.map(([, one]) => one));
  const low = percent < WANTED ? [`${part.name}: ${percent} %, less than ${WANTED} %`] : [];
  return [...low, ...unjudged, ...unused];
}

/** @returns {string[]} what a part's score was and is, where that is another one or a file was not measured before */
export function differencesOf(part, before) {
  const after = readFigures(part);
  const isNew = Object.keys(after).filter((file) => !before[file]);
  if (isNew.length > 0) return isNew.map((file) => `${part.name}: ${file} was not measured before`);
  const [was, is] = [before, after].map((figures) => scoreOf(Object.values(figures)).percent);
  return Math.abs(is - was) > MAX_DIFFERENCE
    ? [`${part.name}: ${is} %, and ${was} % in docs/internals/mutation.md`]
    : [];
}
