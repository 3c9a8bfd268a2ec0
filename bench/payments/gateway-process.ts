// The mock gateway in a process of its own, so that its CPU is not counted for a subject.
import { serveTasks } from '../../test/rigs/tasks.mjs';
import { startMockGateway } from './mock-gateway.js';

const gateway = await startMockGateway();

serveTasks({ url: () => gateway.url, end: () => gateway.close() });
