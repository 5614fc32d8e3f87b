import { X509Certificate } from 'node:crypto'
import type { KeyPair } from '../server/index.ts'

const base64 = (text: string) => Buffer.from(text).toString('base64')

/** A kubeconfig by which kubectl reaches the server as `user`, with everything inside. */
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

/** A kubeconfig is written anew when its certificate is valid for no longer than this. */
const renewBeforeMs = 30 * 24 * 3_600_000

const valuesOf = (text: string, key: string): string[] =>
  [...text.matchAll(new RegExp(`^[\\s-]*${key}: *["']?([^"'\\s]+)`, 'gm'))].map(([, value]) => value!)

/** True if a kubeconfig names this server and its authority, whatever else is in it. */
export const leadsTo = (text: string, url: string, authority: string): boolean =>
  valuesOf(text, 'server').includes(url) && valuesOf(text, 'certificate-authority-data').includes(base64(authority))

/**
 * True if a kubeconfig that was written before still leads to this server: its address, its authority, and a client
 * certificate of that authority. What else is in it, such as a namespace that a person has chosen, is theirs.
 */
export function isKubeconfigValid(text: string, url: string, authority: string, nowMs: number): boolean {
  if (!leadsTo(text, url, authority)) return false
  const issuer = new X509Certificate(authority)
  return valuesOf(text, 'client-certificate-data').some((data) => {
    try {
      const certificate = new X509Certificate(Buffer.from(data, 'base64'))
      return certificate.verify(issuer.publicKey) && Date.parse(certificate.validTo) > nowMs + renewBeforeMs
    } catch {
      // Somebody else's data, which is no certificate, is none of ours.
      return false
    }
  })
}
