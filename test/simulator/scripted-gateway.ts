import {
  type BankCallback,
  type FaultOptions,
  type Simulator,
  type SimulatorOperation,
  type SimulatorOptions,
  startSimulator,
} from '../../lib/simulator/index.js';
import type { Script } from '../rigs/played-scripts.js';
import { wrapped } from '../rigs/wrapped.js';
import { type Asked, SimulatedMerchant } from './simulated-merchant.js';

const NOON = new Date('2026-03-05T12:09:09Z');
/** Lines also end at the commas of JSON. */
const LINE_ENDS = /(?<=[ ,])/;
const SALES: SimulatorOperation[] = ['DoPayment', 'Init3d'];
const PAGES: SimulatorOperation[] = ['hostedPage', 'embeddedForm'];
const SIGNED: SimulatorOperation[] = [...SALES, ...PAGES, 'refund', 'void', 'CheckBin', 'CheckPayment'];
/** By the words with which steps name them. */
const OPERATIONS: Readonly<Record<string, readonly SimulatorOperation[]>> = {
  sales: SALES,
  pages: PAGES,
  all: SIGNED,
  ...Object.fromEntries([...SIGNED, 'Auth3d' as const].map((name) => [name, [name]])),
};
/** Of what is asked, what steps name by other words than the rig. */
const ASKED: Readonly<Record<string, keyof Asked>> = { id: 'conversationId', instalments: 'installmentCount' };

type Step = (words: readonly string[], json: Readonly<Record<string, unknown>>) => unknown;

/**
 * What a gateway answers to the steps of a script, and below that, after `>`, what they changed in its ledger. A step
 * that asks several operations shows each answer once. Sessions of pages and random fields have the same text each run.
 */
export class ScriptedGateway {
  private readonly lines: string[] = [];
  private readonly callbacks = new Map<string, BankCallback>();
  private now = NOON;
  private ids = 0;
  private merchant!: SimulatedMerchant;
  private simulator!: Simulator;

  static async play({ title, steps }: Script): Promise<string> {
    const gateway = new ScriptedGateway();
    gateway.lines.push(title);
    const given = steps[0]?.startsWith('given ') ? steps[0].slice('given '.length) : '{}';
    const options = JSON.parse(given) as SimulatorOptions;
    gateway.simulator = await startSimulator({ dialect: 'morpos', slowMs: 1, clock: () => gateway.now, ...options });
    gateway.merchant = new SimulatedMerchant(gateway.simulator, () => gateway.now);
    try {
      for (const step of steps) await gateway.take(step);
      return gateway.lines.join('\n');
    } finally {
      await gateway.simulator.close();
    }
  }

  private readonly steps: Readonly<Record<string, Step>> = {
    given: () => undefined,
    clock: ([time = '']) => void (this.now = new Date(time)),
    reset: () => this.simulator.reset(),
    fault: (_words, fault) => void this.simulator.fail(fault as unknown as FaultOptions),
    approve: ([id = '']) => this.kept(id, this.simulator.approve(id)),
    bank: ([id = '', code = '']) => this.kept(id, this.simulator.bank.answer(id, { code })),
    payAtPage: ([id = ''], options) => this.kept(id, this.simulator.payAtPage(id, options)),
    cancelAtPage: ([id = '']) => this.kept(id, this.simulator.cancelAtPage(id)),
    closePage: ([id = '']) => this.simulator.closePage(id),
    /** `callback ID {changes}`: what the bank sent comes back by Auth3d. */
    callback: async ([id = ''], change) => {
      const fields = Object.entries({ ...this.callbacks.get(id)?.fields, ...change });
      const kept = fields.filter(([, value]) => value !== null);
      return this.answer(await this.merchant.auth3d(Object.fromEntries(kept)));
    },
    /** `never DoPayment amount=10.62`: it gets no answer. */
    never: async ([operation = '', ...words]) => {
      const asked = { conversationId: this.newId(), ...askedBy(words) };
      await this.merchant.askInVain(operation as SimulatorOperation, asked);
      return 'no answer';
    },
    totals: ([currency = '949']) => {
      const { ledger } = this.simulator;
      return `charged ${ledger.total(Number(currency))}, given back ${ledger.refundedTotal(Number(currency))}`;
    },
  };

  private async take(step: string): Promise<void> {
    this.lines.push(`  ${step}`);
    const [, line = '', text = '{}'] = /^(.*?)(?: (\{.*\}))?$/.exec(step) ?? [];
    const [verb = '', ...words] = line.split(' ');
    const json = JSON.parse(text) as Record<string, unknown>;
    const { charges, refunds, violations } = this.simulator.ledger;
    const before = [charges.length, refunds.length, violations.length];
    try {
      const shown = await (this.steps[verb] ? this.steps[verb](words, json) : this.ask(verb, words, json));
      if (typeof shown === 'string') this.write(shown);
    } catch (error) {
      this.write(`throws ${(error as Error).message.split('\n', 1)[0]}`);
    }
    if (verb === 'reset') return;
    for (const { at, ...charge } of charges.slice(before[0])) this.write(`> charged ${textOf({ ...charge, at })}`);
    for (const { charge, ...refund } of refunds.slice(before[1])) {
      const left = this.simulator.ledger.refundedAmount(charge.conversationId);
      this.write(`> given back ${textOf({ ...refund, of: charge.conversationId, inAll: left })}`);
    }
    for (const violation of violations.slice(before[2])) this.write(`> violation ${textOf(violation)}`);
  }

  /** `DoPayment,void amount=1.00 x-Scope=pf_read {change}`; a header without a value is left out. */
  private async ask(
    names: string,
    words: readonly string[],
    change: Readonly<Record<string, unknown>>,
  ): Promise<string> {
    const asked = askedBy(words.filter((word) => !isHeader(word)));
    const answers = new Map<string, string[]>();
    for (const operation of names.split(',').flatMap((name) => OPERATIONS[name]!)) {
      const headers = this.headers(operation, words.filter(isHeader));
      const conversationId = asked.conversationId ?? this.newId();
      const response = await this.merchant.send(operation, { ...asked, conversationId, change }, headers);
      const answer = await this.answer(response);
      answers.set(answer, [...(answers.get(answer) ?? []), operation]);
    }
    const isOne = !names.includes(',') && OPERATIONS[names]?.length === 1;
    return [...answers].map(([answer, asked]) => (isOne ? answer : `${asked.join(', ')}: ${answer}`)).join('\n');
  }

  private headers(operation: SimulatorOperation, words: readonly string[]): Record<string, string> {
    const headers = { ...this.merchant.headers(operation) };
    for (const word of words) {
      const [name = '', ...value] = word.split('=');
      headers[name] = value.join('=').replaceAll('_AND_', ' ');
      if (value.join('') === '') delete headers[name];
    }
    return headers;
  }

  private newId(): string {
    this.ids += 1;
    return `ABC${String(this.ids).padStart(17, '0')}`;
  }

  private kept(id: string, callback: BankCallback & { readonly charged?: boolean }): string {
    this.callbacks.set(id, callback);
    const { url, fields, request, ...rest } = callback;
    const body = new URLSearchParams(fields).toString();
    expect(request).toMatchObject({ url, method: 'POST', body });
    return `${url} ${textOf(rest)} ${textOf(fields)}`;
  }

  /** The status and the text of an answer; of a refusal, its code and what is wrong. */
  private async answer(response: Response): Promise<string> {
    const text = await response.text();
    const { Code, Message, validationResults } = JSON.parse(text) as Refused;
    if (Code === undefined) return `${response.status} ${text}`;
    const problems = validationResults.map(({ ErrorMessage }) => ErrorMessage);
    return `${response.status} ${Code} ${Message}${problems.length > 0 ? `: ${problems.join('; ')}` : ''}`;
  }

  private write(text: string): void {
    const stable = text
      .replaceAll(this.simulator.publicUrl, 'GATEWAY')
      .replaceAll(/MdStatus [A-Za-z0-9+/]{32}(?=,)/g, 'MdStatus RANDOM')
      .replaceAll(/"(htmlForm|paymentFormContent)":"((?:\\.|[^"\\])+)"/g, (_all, name: string, page: string) => {
        const content = name === 'htmlForm' ? Buffer.from(page, 'base64').toString() : page;
        return `"${name}":"(a page that posts to ${/action=\\?"https?:\/\/[^/"]+(\/[\w/-]+)/.exec(content)?.[1]})"`;
      })
      .replaceAll(/[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}/g, 'SESSION');
    this.lines.push(wrapped(stable, '    ', LINE_ENDS));
  }
}

interface Refused {
  readonly Code?: string;
  readonly Message: string;
  readonly validationResults: readonly { readonly ErrorMessage: string }[];
}

const isHeader = (word: string): boolean => /^(x-|content-type)/.test(word);

function askedBy(words: readonly string[]): Asked {
  const entries = words.map((word) => {
    const [name = '', value = ''] = word.split('=');
    const isJson = ['instalments', 'vftFlag'].includes(name);
    return [ASKED[name] ?? name, isJson ? (JSON.parse(value) as unknown) : value];
  });
  return Object.fromEntries(entries) as Asked;
}

function textOf(facts: object): string {
  const entries = Object.entries(facts) as [string, unknown][];
  return entries
    .map(([name, value]) => `${name} ${value instanceof Date ? value.toISOString() : String(value)}`)
    .join(', ');
}
