import { command } from '../command.js';
import { CommandFailedError } from '../command-failed.error.js';
import { STORE_OPTIONS } from '../common-options.js';
import { withAccountStore } from './account-store.js';

export const replayDeliveryCommand = command({
  name: 'payments replay',
  summary: 'Delivers a parked event to its handler again.',
  words: ['HANDLER_ID', 'EVENT_ID'],
  options: STORE_OPTIONS,
  run(call) {
    const [handlerId = '', eventId = ''] = call.words;
    return withAccountStore(call, async ({ store, account }) => {
      if (!(await store.replay(account, handlerId, eventId))) {
        throw new CommandFailedError(
          `There is no parked delivery of ${eventId} to ${handlerId}; "payments parked" lists them.`,
        );
      }
      return { text: `Event ${eventId} goes to ${handlerId} again.`, json: { account, handlerId, eventId } };
    });
  },
});
