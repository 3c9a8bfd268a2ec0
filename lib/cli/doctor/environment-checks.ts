import { describeNearMiss, nearMisses } from '../../options/near-misses.js';
import { variablePrefix } from '../../payment/account.js';
import { failed, type Finding, ok, skipped } from './finding.js';
import type { Patient } from './patient.js';

/** Which file variables came from. */
export function checkEnvironment({ account, environment }: Patient, file: string | null): Finding {
  const prefix = variablePrefix(account);
  const count = Object.keys(environment).filter((variable) => variable.startsWith(prefix)).length;
  const variables = `${count} variables begin with ${prefix}`;
  if (file !== null) return ok('environment', `${file} was read; ${variables}`);
  return skipped(
    'environment',
    `there is no file .env in this folder; ${variables}`,
    'If your application reads another file, name it: --env FILE.',
  );
}

/** Variables that are mistyped. */
export function checkVariables({ account, environment }: Patient): readonly Finding[] {
  const misses = nearMisses(environment, [account]);
  if (misses.length === 0) return [ok('variables', 'none is mistyped')];
  return misses.map((miss) => failed('variables', describeNearMiss(miss), `Rename it to ${miss.meant}.`));
}
