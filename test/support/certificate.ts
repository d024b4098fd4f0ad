/** Certificates that nobody else signed, for servers of tests. */
import { execFileSync } from 'node:child_process'

/** Key and certificate in one text, for as in `IP:127.0.0.1` or `DNS:example.org`; for a day. */
export function makeCertificate(name: string): string {
  const kind = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1', '-noenc', '-days', '1']
  const subject = ['-subj', '/CN=test', '-addext', `subjectAltName=${name}`]
  const out = ['-keyout', '-', '-out', '-']
  return execFileSync('openssl', ['req', '-x509', ...kind, ...subject, ...out], {
    encoding: 'utf8',
    stdio: ['ignore', 'pipe', 'ignore'],
  })
}
