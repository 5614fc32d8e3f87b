import { describe, expect, it } from 'vitest'
import { base64, sampleRequest } from '../../../api/x509/sample-request.ts'
import { pemText } from '../../../api/x509/index.ts'
import { createAuthority } from '../../auth/certificates.ts'
import { FeatureGates } from '../../../api/feature-gates.ts'
import { cloneObject } from '../../../api/json/index.ts'
import { DecodedTrial } from '../resource-trial.ts'
import { certificatesigningrequests } from './certificatesigningrequests.ts'

const now = Date.parse('2026-01-01T00:00:00Z')
const trial = new DecodedTrial(certificatesigningrequests, now)
const request = base64(sampleRequest({ commonName: 'ann' }).request)
const spec = { request, signerName: 'example.com/signer', usages: ['client auth'] }
const certificate = base64(createAuthority(now).certificate)
const condition = (type: string, status = 'True', more: object = {}) => ({ type, status, ...more })

describe('a new certificate signing request', () => {
  it.each<[string, object, (string | RegExp)[]]>([
    ['everything', { expirationSeconds: 600, usages: ['digital signature', 'key encipherment', 'client auth'] }, []],
    [
      'no request',
      { request: undefined },
      ['spec.request: Invalid value: "": PEM block type must be CERTIFICATE REQUEST'],
    ],
    [
      'another PEM block',
      { request: base64(pemText('CERTIFICATE', Buffer.from([48, 0]))) },
      [/^spec\.request: Invalid value: "\S+": PEM block type must be CERTIFICATE REQUEST$/],
    ],
    [
      'half a request',
      { request: base64(pemText('CERTIFICATE REQUEST', Buffer.from([48, 9, 1]))) },
      [/: asn1: syntax error: data truncated$/],
    ],
    ['no usages', { usages: [] }, ['spec.usages: Required value']],
    [
      'an unknown usage',
      { usages: ['server auth', 'tea'] },
      [/^spec\.usages\[1\]: Unsupported value: "tea": supported values: "any", "cert sign", "client auth", /],
    ],
    ['a usage twice', { usages: ['server auth', 'server auth'] }, ['spec.usages[1]: Duplicate value: "server auth"']],
    ['no signer', { signerName: '' }, ['spec.signerName: Required value']],
    [
      'a signer without a path',
      { signerName: 'example.com' },
      [
        /^spec\.signerName: Invalid value: "example\.com": must be a fully qualified domain and path of the form '/,
      ],
    ],
    [
      'a signer without a domain',
      { signerName: 'example/x' },
      ['spec.signerName: Invalid value: "example": should be a domain with at least two segments separated by dots'],
    ],
    [
      'a signer with a bad label',
      { signerName: 'Example.com/x' },
      [/^spec\.signerName: Invalid value: "Example\.com": validating label "Example": a lowercase RFC 1123 label/],
    ],
    [
      'the signer of old',
      { signerName: 'kubernetes.io/legacy-unknown' },
      [
        /^spec\.signerName: Invalid value: "\S+": the legacy signerName is not allowed via this API version$/,
      ],
    ],
    [
      'less than ten minutes',
      { expirationSeconds: 599 },
      ['spec.expirationSeconds: Invalid value: 599: may not specify a duration less than 600 seconds (10 minutes)'],
    ],
  ])('says of %s', (_, draft, refusals) => {
    expect(trial.refusals({ spec: { ...spec, ...draft } })).toEqual(refusals.map(
      (r) => (typeof r === 'string' ? r : (expect.stringMatching(r) as string)),
    ))
  })
})

describe('an update', () => {
  const old = trial.created({ spec })
  const invalid = 'status.certificate: Invalid value: "<certificate data>":'

  it('of the request itself changes neither spec nor status', () => {
    const updated = trial.updated(old, { spec: { ...spec, usages: ['server auth'] }, status: { certificate } })
    expect(updated).toMatchObject({ spec, status: {} })
    expect(trial.updateRefusals(old, { spec: {} })).toEqual([])
  })

  it.each<[string, object, object, string[]]>([
    ['sets a certificate', {}, { certificate }, []],
    ['fails it', {}, { conditions: [condition('Failed')] }, []],
    [
      'sets what is no certificate',
      {},
      { certificate: base64('hello') },
      ['status.certificate: Invalid value: "<certificate data>": must contain at least one CERTIFICATE PEM block'],
    ],
    [
      'sets a key',
      {},
      { certificate: base64(pemText('PRIVATE KEY', Buffer.from([1]))) },
      [
        `${invalid} only CERTIFICATE PEM blocks are allowed, found "PRIVATE KEY"`,
      ],
    ],
    [
      'sets another certificate',
      { certificate },
      { certificate: base64(createAuthority(now).certificate) },
      ['status.certificate: Forbidden: updates may not modify existing certificate content'],
    ],
    [
      'approves',
      {},
      { conditions: [condition('Approved')] },
      ['status.conditions: Forbidden: updates may not add a condition of type "Approved"'],
    ],
    [
      'takes a failure back',
      { conditions: [condition('Failed')] },
      {},
      ['status.conditions: Forbidden: updates may not remove a condition of type "Failed"'],
    ],
    [
      'takes an approval back',
      { conditions: [condition('Approved')] },
      {},
      ['status.conditions: Forbidden: updates may not remove a condition of type "Approved"'],
    ],
    [
      'has a false failure',
      {},
      { conditions: [condition('Failed', 'False')] },
      ['status.conditions[0].status: Unsupported value: "False": supported values: "True"'],
    ],
    [
      'has a condition twice',
      {},
      { conditions: [condition('Mine'), condition('Mine', 'False')] },
      ['status.conditions[1].type: Duplicate value: "Mine"'],
    ],
    [
      'has a condition without a status',
      {},
      { conditions: [condition('Mine', '')] },
      ['status.conditions[0].status: Required value'],
    ],
  ])('of the status that %s', (_, was, status, refusals) => {
    expect(trial.statusRefusals({ ...old, status: was }, status)).toEqual(refusals)
  })

  const approval = (was: object, status: object) => {
    const stored = { ...old, status: was }
    const next = cloneObject({ ...stored, status }) as any
    const ctx = { gates: FeatureGates.of({}), now }
    const { prepare, validate } = certificatesigningrequests.partialUpdates!.approval!
    prepare(next, stored, ctx)
    return { next, refusals: validate(next, stored, ctx).map((e) => `${e.field}: ${e.message}`) }
  }

  it.each<[string, object, object, string[]]>([
    ['approves', {}, { conditions: [condition('Approved')] }, []],
    ['denies', {}, { conditions: [condition('Denied')] }, []],
    [
      'does both',
      {},
      { conditions: [condition('Approved'), condition('Denied')] },
      ['status.conditions: Invalid value: "Denied": Approved and Denied conditions are mutually exclusive'],
    ],
    [
      'takes it back',
      { conditions: [condition('Approved')] },
      {},
      ['status.conditions: Forbidden: updates may not remove a condition of type "Approved"'],
    ],
    ['brings a certificate along, which is left out', {}, { certificate, conditions: [condition('Approved')] }, []],
  ])('of the approval that %s', (_, was, status, refusals) => {
    expect(approval(was, status).refusals).toEqual(refusals)
    expect(approval(was, status).next.status).not.toHaveProperty('certificate')
  })

  it('fills in the times of conditions, and keeps that of the last transition', () => {
    const time = '2026-01-01T00:00:00Z'
    const before = '2025-12-31T00:00:00Z'
    expect(approval({}, { conditions: [condition('Approved')] }).next.status.conditions).toEqual([
      condition('Approved', 'True', { lastUpdateTime: time, lastTransitionTime: time }),
    ])
    const kept = approval(
      { conditions: [condition('Approved', 'True', { lastTransitionTime: before })] },
      { conditions: [condition('Approved')] },
    )
    expect(kept.next.status.conditions[0]).toMatchObject({ lastUpdateTime: time, lastTransitionTime: before })
  })
})

it('a request says who sent it, whatever it said', () => {
  const created = trial.created({ spec: { ...spec, username: 'root', groups: ['system:masters'], extra: { a: ['b'] } } })
  expect(created.spec).toEqual({ ...spec, username: 'ann', uid: '7', groups: ['crew'] })
})

describe('the table of certificate signing requests', () => {
  it.each<[string, object, string]>([
    ['nobody has decided', {}, 'Pending'],
    ['was approved', { conditions: [condition('Approved')] }, 'Approved'],
    ['was issued', { conditions: [condition('Approved')], certificate }, 'Approved,Issued'],
    ['failed', { conditions: [condition('Approved'), condition('Failed')] }, 'Approved,Failed'],
    ['was denied', { conditions: [condition('Denied')] }, 'Denied'],
  ])('says how one stands that %s', (_, status, text) => {
    const csr = { ...trial.created({ spec: { ...spec, expirationSeconds: 86400, username: 'ann' } }), status }
    expect(trial.cells(csr)).toMatchObject({
      SignerName: 'example.com/signer',
      Requestor: 'ann',
      RequestedDuration: '24h',
      Condition: text,
    })
  })

  it('says <none> where no duration was asked for', () => {
    expect(trial.cells(trial.created({ spec }))).toMatchObject({ RequestedDuration: '<none>' })
  })
})
