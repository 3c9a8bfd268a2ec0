import { Init3dResponseDto } from '../../lib/dto/init3d-response.dto.js';
import { noticed, problemsOf } from './message-problems.js';

describe('Init3dResponseDto', () => {
  it('checks each field', () => {
    const good = {
      code: 'B0000',
      message: 'ok',
      resultCode: 'B0000',
      resultDescription: 'ok',
      conversationId: 'x',
      htmlForm: 'PGh0bWw+',
    };
    expect(problemsOf(Init3dResponseDto, good)).toEqual([]);
    const bad = { code: 1, message: 1, resultCode: 1, resultDescription: 1, conversationId: 1, htmlForm: '<html>' };
    expect(noticed(Init3dResponseDto, good, bad)).toEqual(Object.keys(bad));
  });
});
