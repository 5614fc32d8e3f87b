import { describe, expect, it } from 'vitest'
import type { Secret } from '../../api/generated/types.ts'
import { planCleaning } from './cleaner.ts'
import { detachedSignature, planSigning } from './signer.ts'

const nowMs = Date.parse('2026-11-18T12:00:00Z')
const usual = { 'token-id': 'abc123', 'token-secret': '0123456789abcdef', 'usage-bootstrap-signing': 'true' }

function token(said: Record<string, string> = {}, name = 'bootstrap-token-abc123'): Secret {
  const data = Object.fromEntries(Object.entries({ ...usual, ...said }).map(([k, v]) => [k, Buffer.from(v).toString('base64')]))
  return { metadata: { name, namespace: 'kube-system' }, type: 'bootstrap.kubernetes.io/token', data } as Secret
}

describe('planCleaning()', () => {
  it.each([
    ['no expiration', '', { actions: [] }],
    ['in an hour', '2026-11-18T13:00:00Z', { actions: [], requeueAfterMs: 3_600_000 }],
    ['in an hour, in another zone', '2026-11-18T15:00:00+02:00', { actions: [], requeueAfterMs: 3_600_000 }],
    ['now', '2026-11-18T12:00:00Z', { actions: [{ kind: 'Delete' }] }],
    ['a day ago', '2026-11-17T12:00:00Z', { actions: [{ kind: 'Delete' }] }],
    ['no time', 'tomorrow', { actions: [{ kind: 'Delete' }] }],
  ])('expiration: %s', (_what, expiration, expected) => {
    expect(planCleaning({ secret: token({ expiration }), nowMs })).toEqual(expected)
  })
})

describe('detachedSignature()', () => {
  it("is the one of Kubernetes' own test", () => {
    const content = 'Hello from the other side. I must have called a thousand times.'
    expect(detachedSignature(content, 'joshua', 'my voice is my passcode')).toBe(
      'eyJhbGciOiJIUzI1NiIsImtpZCI6Impvc2h1YSJ9..VShe2taLd-YTrmWuRkcL_8QTNDHYxQIEBsAYYiIj1_8',
    )
  })
})

describe('planSigning()', () => {
  const kubeconfig = 'clusters: []'
  const signature = detachedSignature(kubeconfig, 'abc123', '0123456789abcdef')
  const signed = { kubeconfig, 'jws-kubeconfig-abc123': signature }
  const plan = (data: Record<string, string>, ...tokens: Secret[]) =>
    planSigning({ clusterInfo: { metadata: { name: 'cluster-info' }, data } as never, tokens, nowMs })
  const sign = (data: Record<string, string>) => ({ actions: [{ kind: 'Sign', data }] })
  const nothing = { actions: [] }

  it.each([
    ['a token that may sign', { kubeconfig }, [token()], sign(signed)],
    ['what is signed already', signed, [token()], nothing],
    ['another kubeconfig', { ...signed, 'jws-kubeconfig-abc123': 'old' }, [token()], sign(signed)],
    ['a token that is gone', { ...signed, more: 'x' }, [], sign({ kubeconfig, more: 'x' })],
    ['a token with an end', signed, [token({ expiration: '2026-11-18T12:00:10Z' })], { actions: [], requeueAfterMs: 10_000 }],
    ['a token that has expired', signed, [token({ expiration: '2026-11-18T12:00:00Z' })], sign({ kubeconfig })],
    ['a token that may not sign', signed, [token({ 'usage-bootstrap-signing': 'false' })], sign({ kubeconfig })],
    ['a token without a secret', signed, [token({ 'token-secret': '' })], sign({ kubeconfig })],
    ['a token of another name', signed, [token({}, 'bootstrap-token-zzz999')], sign({ kubeconfig })],
    ['a name that is none of a token', { kubeconfig }, [token({ 'token-id': '' }, 'other')], nothing],
    ['no kubeconfig', { 'jws-kubeconfig-abc123': 'x' }, [token()], nothing],
  ])('%s', (_what, data, tokens, expected) => {
    expect(plan(data, ...tokens)).toEqual(expected)
  })
})
