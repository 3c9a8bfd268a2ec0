import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { makeScratchFolder } from './scratch-folder.js';

/** A key and a self-signed certificate for `name`, made by the command openssl, which these tests need. */
export function selfSigned(name: string): { key: Buffer; cert: Buffer } {
  const { file, remove } = makeScratchFolder('certificate');
  const [key, cert] = [file('key.pem'), file('cert.pem')];
  const altName = /^[\d.]+$/.test(name) ? `IP:${name}` : `DNS:${name}`;
  try {
    execFileSync(
      'openssl',
      ['req', '-x509', '-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1', '-nodes', '-days', '2']
        .concat(['-subj', `/CN=${name}`, '-addext', `subjectAltName=${altName}`])
        .concat(['-keyout', key, '-out', cert]),
      { stdio: 'pipe' },
    );
    return { key: readFileSync(key), cert: readFileSync(cert) };
  } catch (error) {
    throw new Error('The TLS tests make their certificates with the openssl command (1.1.1 or newer).', {
      cause: error,
    });
  } finally {
    remove();
  }
}
