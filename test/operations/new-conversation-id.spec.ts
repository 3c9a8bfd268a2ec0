import { newConversationIdOf } from '../../lib/operations/ids.js';

it.each<[() => unknown]>([
  [() => Promise.reject(new Error('no id'))],
  [() => Promise.resolve('ABC1')],
  ...[undefined, null, 7, '', '  ', 'A\0B', 'A\r\nB', 'x'.repeat(10_000), {}].map((id): [() => unknown] => [() => id]),
])('an id of a dialect that is no fitting text is an error (%#)', (newConversationId) => {
  const dialect = { name: 'own', newConversationId: newConversationId as () => string };
  expect(() => newConversationIdOf(dialect)).toThrow(/newConversationId\(\) of the dialect "own"/);
});

it('an id that fits is taken as it is', () => {
  expect(newConversationIdOf({ name: 'own', newConversationId: () => 'ABC1' })).toBe('ABC1');
});
