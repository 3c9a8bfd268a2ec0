import { type Browser, chromium } from 'playwright-core';
import { findChromium } from '../services/chromium.js';

const FLAGS = [
  '--no-sandbox',
  '--disable-gpu',
  '--disable-quic',
  '--no-first-run',
  '--disable-background-networking',
  '--disable-component-update',
  '--disable-sync',
  // Contexts share a process, whose start takes longer than most pages; pages of other sites still have their own.
  '--renderer-process-limit=1',
];

/** The system's Chromium, headless. */
export function launchBrowser(flags: readonly string[] = []): Promise<Browser> {
  return chromium.launch({ executablePath: findChromium(), args: [...FLAGS, ...flags] });
}
