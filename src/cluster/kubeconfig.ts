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
