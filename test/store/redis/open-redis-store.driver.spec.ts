import { expect, jest, test } from '@jest/globals';

test('without ioredis the error names what to install', async () => {
  jest.unstable_mockModule('ioredis', () => {
    throw Object.assign(new Error("Cannot find package 'ioredis'"), { code: 'ERR_MODULE_NOT_FOUND' });
  });
  const { openRedisStore } = await import('nestjs-card-payment/redis');
  await expect(openRedisStore('redis://localhost')).rejects.toThrow(
    new Error('The Redis store needs the package ioredis: npm install ioredis'),
  );
});
