// The mock gateway as a process of its own, so that its work is nobody's CPU.
import { serveTasks } from '../../test/rigs/tasks.mjs';
import { startMockGateway } from './mock-gateway.js';

const gateway = await startMockGateway();

serveTasks({ url: () => gateway.url, end: () => gateway.close() });
