/** Digits that a reader would put together. */
export interface DigitRun {
  readonly digits: string;
  /** Where the digits stand in the text. */
  readonly places: readonly number[];
  /** From its first digit to its last. */
  readonly text: string;
  /** Whether digits are masked inside it: `4508****4509`. */
  readonly isMasked: boolean;
  /** Whether the text ends before it was seen that the run does. */
  readonly isOpen: boolean;
}

const MIN_MASK_SIGNS = 3;
const MASK_SIGN = /[*•●xX#]/;
/** Digits of any script, and what else stands for a number: in circles, raised, Roman. */
const DIGIT = /\p{N}/u;
const LETTER = /\p{L}/u;

/**
 * The digits of a text, put together across everything but words: spaces, dots, signs and single letters do not part
 * them, nor do the x and * of masks. In one pass.
 */
export function digitRuns(text: string): DigitRun[] {
  const runs: DigitRun[] = [];
  let digits = '';
  let places: number[] = [];
  let letters = 0;
  let signs = 0;
  let isMasked = false;
  const end = (isOpen: boolean): void => {
    const [first] = places;
    if (first !== undefined) {
      runs.push({ digits, places, text: text.slice(first, (places.at(-1) ?? first) + 1), isMasked, isOpen });
    }
    [digits, places, letters, signs, isMasked] = ['', [], 0, 0, false];
  };
  let index = 0;
  for (const character of text) {
    if (DIGIT.test(character)) {
      isMasked ||= signs >= MIN_MASK_SIGNS;
      digits += character;
      places.push(index);
      letters = signs = 0;
    } else if (MASK_SIGN.test(character)) {
      if (places.length > 0) signs += 1;
    } else if (LETTER.test(character)) {
      letters += 1;
      if (letters > 1) end(false);
    }
    index += character.length;
  }
  end(true);
  return runs;
}
