import { X509Certificate } from 'node:crypto'
import type { KeyPair } from '../../server/index.ts'

const base64 = (text: string) => Buffer.from(text).toString('base64')

/** Name of the extension that lists the other servers of the cluster for our clients. */
const extensionName = 'coxswain.io/servers'
const extensionText = (others: readonly string[]): string =>
  `    extensions:\n    - name: ${extensionName}\n      extension: { servers: ${JSON.stringify(others)} }\n`
const extensionPattern = new RegExp(
  `^    extensions:\\n    - name: ${extensionName}\\n      extension: \\{ servers: .* \\}\\n`,
  'm',
)

/** Returns the kubeconfig with these other servers. A kubeconfig whose list has another form is not changed. */
export function withServers(text: string, url: string, others: readonly string[]): string {
  if (extensionPattern.test(text)) return text.replace(extensionPattern, extensionText(others))
  if (text.includes('extensions:')) return text
  return text.replace(`    server: ${url}\n`, (line) => `${line}${extensionText(others)}`)
}

/** Returns a kubeconfig for `user` with all credentials inline. */
export function kubeconfigText(url: string, authority: string, user: string, client: KeyPair): string {
  return `apiVersion: v1
kind: Config
clusters:
- name: coxswain
  cluster:
    server: ${url}
    certificate-authority-data: ${base64(authority)}
users:
- name: ${user}
  user:
    client-certificate-data: ${base64(client.certificate)}
    client-key-data: ${base64(client.key)}
contexts:
- name: coxswain
  context:
    cluster: coxswain
    user: ${user}
current-context: coxswain
`
}

/** A kubeconfig is rewritten when its certificate expires within this time. */
const renewBeforeMs = 30 * 24 * 3_600_000

/** Returns all values of a key in a kubeconfig, at any position. */
export const valuesOf = (text: string, key: string): string[] =>
  [...text.matchAll(new RegExp(`^[\\s-]*${key}: *["']?([^"'\\s]+)`, 'gm'))].map(([, value]) => value!)

/** Returns true if a kubeconfig contains this server and its CA. */
export const leadsTo = (text: string, url: string, authority: string): boolean =>
  valuesOf(text, 'server').includes(url) && valuesOf(text, 'certificate-authority-data').includes(base64(authority))

/**
 * Returns true if an existing kubeconfig is valid for this server: its address, its CA, and a client certificate signed
 * by that CA. Everything else in it, such as a namespace, belongs to the user.
 */
export function isKubeconfigValid(text: string, url: string, authority: string, nowMs: number): boolean {
  if (!leadsTo(text, url, authority)) return false
  const issuer = new X509Certificate(authority)
  return valuesOf(text, 'client-certificate-data').some((data) => {
    try {
      const certificate = new X509Certificate(Buffer.from(data, 'base64'))
      return certificate.verify(issuer.publicKey) && Date.parse(certificate.validTo) > nowMs + renewBeforeMs
    } catch {
      // Data that is not a certificate was not written by us.
      return false
    }
  })
}
