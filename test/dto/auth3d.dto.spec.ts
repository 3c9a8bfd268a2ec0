import { Auth3dDto } from '../../lib/dto/auth3d.dto.js';
import { problemsOf } from './message-problems.js';

const CALLBACK = { Code: 'B0000', conversationId: 'ABC', InstrumentDetail: { CardType: 'CARD' } };

describe('Auth3dDto', () => {
  it('needs the payment and what the bank sent', () => {
    expect(problemsOf(Auth3dDto, { conversationId: 'ABC', fields: CALLBACK })).toEqual([]);
    expect(problemsOf(Auth3dDto, {})).toEqual(['conversationId', 'fields']);
    expect(problemsOf(Auth3dDto, { conversationId: 1, fields: [] })).toEqual(['conversationId', 'fields']);
  });
});
