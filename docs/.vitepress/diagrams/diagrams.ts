import { REFUND_STATES, SALE_STATES } from '../../../lib/payment/states.js';
import { cardsWay } from './card.js';
import { directCourse, hostedCourse, hostedWay, paymentsWay, refundCourse, threeDCourse } from './courses.js';
import { layersPicture } from './layers.js';
import { statesPicture } from './states.js';
import { unknownDay } from './unknown-day.js';

/** Every diagram of the docs, by the name of its file. */
export async function diagrams(): Promise<Readonly<Record<string, string>>> {
  return {
    'payments-way.svg': paymentsWay(),
    'hosted-way.svg': hostedWay(),
    'card.svg': cardsWay(),
    'unknown-day.svg': unknownDay(),
    'layers.svg': layersPicture(),
    'states.svg': await statesPicture(SALE_STATES),
    'refund-states.svg': await statesPicture(REFUND_STATES),
    'course-direct.svg': directCourse(),
    'course-3d.svg': threeDCourse(),
    'course-hosted.svg': hostedCourse(),
    'course-refund.svg': refundCourse(),
  };
}
