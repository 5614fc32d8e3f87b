import { expect, it } from 'vitest'
import { parse } from 'yaml'
import { kubeconfigText } from './kubeconfig.ts'

it('kubeconfigText() names server, user and everything kubectl needs to trust and be trusted', () => {
  const base64 = (text: string) => Buffer.from(text).toString('base64')
  const config: unknown = parse(kubeconfigText('https://127.0.0.1:6443', 'CA\n', 'ann', { certificate: 'CERT\n', key: 'KEY\n' }))
  expect(config).toEqual({
    apiVersion: 'v1',
    kind: 'Config',
    clusters: [{ name: 'coxswain', cluster: { server: 'https://127.0.0.1:6443', 'certificate-authority-data': base64('CA\n') } }],
    users: [{ name: 'ann', user: { 'client-certificate-data': base64('CERT\n'), 'client-key-data': base64('KEY\n') } }],
    contexts: [{ name: 'coxswain', context: { cluster: 'coxswain', user: 'ann' } }],
    'current-context': 'coxswain',
  })
})
