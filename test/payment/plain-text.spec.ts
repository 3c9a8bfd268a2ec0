import { plainText } from '../../lib/payment/plain-text.js';

describe('plainText', () => {
  it('keeps a text on one line and free of what breaks terminals and stores', () => {
    expect(plainText('a\r\nb\u0000c\u001b[31md\u0085e\u2028f\u2029g\u007fh', 100)).toBe('a  b c [31md e f g h');
  });

  it('leaves no half of a surrogate pair', () => {
    expect(plainText('\ud800x', 10)).toBe('\ufffdx');
    expect(plainText('ab😀', 3)).toBe('ab\ufffd');
    expect(plainText('ab😀', 4)).toBe('ab😀');
  });
});
