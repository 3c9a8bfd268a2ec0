/** What can happen next in a run. */
export interface Choice {
  /** Who does what, and how that ends: a line of the trace. */
  readonly line: string;
  readonly isFault: boolean;
  /** What came of it, where the line does not say so; set once it was taken. */
  remark?: string;
  take(): Promise<unknown> | void;
}

/** One run of a scenario, from its beginning. The same choices always lead to the same run. */
export interface Run {
  /** Everything that can happen next; empty once the run is over. */
  readonly choices: readonly Choice[];
  /** Ends all faults, lets time pass, and checks every promise. @returns those that are broken */
  end(): Promise<readonly string[]>;
}

export interface Scenario {
  readonly name: string;
  /** How many faults a run has at most. */
  readonly faults: number;
  /** What happens once no choice is left: the last line of a trace. */
  readonly ending: string;
  begin(): Promise<Run>;
}

/** One of the ways in which a scenario can go. */
export interface Schedule {
  /** Which choice was taken at each point. */
  readonly taken: readonly number[];
  readonly trace: readonly string[];
  readonly faults: number;
  readonly broken: readonly string[];
}

export interface Findings {
  /** How many schedules there are. */
  readonly schedules: number;
  /** The simplest schedule that breaks a promise: with the fewest faults, and then with the fewest steps. */
  readonly broken: Schedule | null;
}

/** A point of the path through the tree of choices, with the lines of all its choices once they are known. */
interface Point {
  taken: number;
  lines?: readonly string[];
}

/** More turns of the event loop than the module needs until all of it waits for a choice or for the clock. */
const TURNS_UNTIL_IDLE = 10;
/** Far more than any run needs. */
const MAX_STEPS = 50;
const MAX_PROMISES_SHOWN = 2;

/**
 * Runs every schedule of a scenario, depth first. Each run repeats the choices of the one before up to the last point
 * with an untried choice, takes that choice, and then always the first one.
 *
 * @param isEnough whether a schedule that breaks a promise ends the search
 */
export async function explore(scenario: Scenario, isEnough = (_found: Schedule): boolean => false): Promise<Findings> {
  const path: Point[] = [];
  let broken: Schedule | null = null;
  for (let schedules = 1; ; schedules += 1) {
    const schedule = await follow(scenario, path);
    if (schedule.broken.length > 0) {
      if (isEnough(schedule)) return { schedules, broken: schedule };
      if (isSimpler(schedule, broken)) broken = schedule;
    }
    while (path.length > 0 && !hasUntried(path.at(-1)!)) path.pop();
    const last = path.at(-1);
    if (!last) return { schedules, broken };
    last.taken += 1;
  }
}

/** Runs one schedule again. */
export function replay(scenario: Scenario, choices: readonly number[]): Promise<Schedule> {
  const path = choices.map((taken) => ({ taken }));
  return follow(scenario, path);
}

/** What happened, which promises were broken, and how to run this schedule again. */
export function report({ name, ending }: Scenario, { taken, trace, broken }: Schedule): string {
  const steps = [...trace, ending].map((line, index) => `${index + 1}. ${line}`);
  const promises = broken.slice(0, MAX_PROMISES_SHOWN).map((promise) => `BROKEN: ${promise}`);
  const again = `SCHEDULE='${name}: ${taken.join(' ')}' npm run -s jest -- test/schedules`;
  return [...steps, ...promises, `To run it again: ${again}`].join('\n');
}

/** Takes the choices of the path, and then always the first one, which is added to the path. */
async function follow(scenario: Scenario, path: Point[]): Promise<Schedule> {
  const run = await scenario.begin();
  const steps: Choice[] = [];
  let faults = 0;
  for (;;) {
    await idle();
    const choices = run.choices.filter(({ isFault }) => !isFault || faults < scenario.faults);
    const lines = choices.map(({ line }) => line);
    const point = path[steps.length] ?? { taken: 0 };
    point.lines ??= lines;
    const chosen = choices[point.taken];
    const isOver = lines.length === 0 && path.length === steps.length;
    const isSame = point.lines.join('\n') === lines.join('\n') && (chosen !== undefined || isOver);
    if (!isSame || steps.length > MAX_STEPS) {
      const what = isSame ? 'a run does not end' : 'the same choices led to another run';
      throw new Error(`${scenario.name}: ${what}:\n${steps.map(({ line }) => line).join('\n')}`);
    }
    if (!chosen) break;
    path[steps.length] = point;
    steps.push(chosen);
    faults += chosen.isFault ? 1 : 0;
    await chosen.take();
  }
  const broken = await run.end();
  const trace = steps.map(({ line, remark = '' }) => line + remark);
  return { taken: path.map(({ taken }) => taken), trace, faults, broken };
}

function hasUntried({ taken, lines = [] }: Point): boolean {
  return taken + 1 < lines.length;
}

function isSimpler(one: Schedule, other: Schedule | null): boolean {
  if (!other || one.faults !== other.faults) return one.faults < (other?.faults ?? Infinity);
  return one.trace.length < other.trace.length;
}

async function idle(): Promise<void> {
  for (let turn = 0; turn < TURNS_UNTIL_IDLE; turn += 1) await new Promise(setImmediate);
}
