import { describe, expect, it } from 'vitest'
import { DecodedTrial } from '../resource-trial.ts'
import { apiservices } from './apiservices.ts'

const now = Date.parse('2026-01-01T00:00:00Z')
const trial = new DecodedTrial(apiservices, now)
const spec = { group: 'example.com', version: 'v1', groupPriorityMinimum: 1000, versionPriority: 15 }
const service = { namespace: 'ns', name: 'svc' }
const named = (change: object, name = 'v1.example.com') => ({ metadata: { name }, spec: { ...spec, ...change } })

describe('an API service', () => {
  it.each<[string, object, string[]]>([
    ['one of its own', named({}), []],
    ['one of another server', named({ service, caBundle: 'eA==' }), []],
    ['core', named({ group: '' }, 'v1.'), []],
    [
      'another name',
      named({}, 'x'),
      ['metadata.name: Invalid value: "x": must be `spec.version+"."+spec.group`: "v1.example.com"'],
    ],
    [
      'another version of core',
      named({ group: '', version: 'v2' }, 'v2.'),
      ['spec.group: Required value: only v1 may have an empty group and it better be legacy kube'],
    ],
    [
      'a low rank',
      named({ groupPriorityMinimum: 0 }),
      ['spec.groupPriorityMinimum: Invalid value: 0: must be positive and less than 20000'],
    ],
    [
      'a high rank',
      named({ versionPriority: 1001 }),
      ['spec.versionPriority: Invalid value: 1001: must be positive and less than 1000'],
    ],
    [
      'a bundle without a service',
      named({ caBundle: 'eA==' }),
      ['spec.caBundle: Invalid value: "1 bytes": local APIServices may not have a caBundle'],
    ],
    [
      'no checks without a service',
      named({ insecureSkipTLSVerify: true }),
      ['spec.insecureSkipTLSVerify: Invalid value: true: local APIServices may not have insecureSkipTLSVerify'],
    ],
    [
      'a service without a name',
      named({ service: {} }),
      ['spec.service.namespace: Required value', 'spec.service.name: Required value'],
    ],
    [
      'a bundle and no checks',
      named({ service, caBundle: 'eA==', insecureSkipTLSVerify: true }),
      ['spec.insecureSkipTLSVerify: Invalid value: true: may not be true if caBundle is present'],
    ],
  ])('says of %s', (_, draft, refusals) => {
    expect(trial.refusals(draft as never)).toEqual(refusals)
  })

  it('of this server is available, of another is not', () => {
    const own = trial.created(named({}) as never)
    expect(own.status.conditions).toEqual([
      {
        type: 'Available', status: 'True', reason: 'Local', message: 'Local APIServices are always available',
        lastTransitionTime: '2026-01-01T00:00:00Z',
      },
    ])
    expect(trial.cells(own)).toMatchObject({ Service: 'Local', Available: 'True' })
    const other = trial.updated(own, named({ service }) as never)
    expect(other.spec.service.port).toBe(443)
    expect(trial.cells(other)).toMatchObject({ Service: 'ns/svc', Available: 'Unknown' })
    expect(trial.cells({ ...own, status: {} })).toMatchObject({ Available: 'Unknown' })
  })

  it('has conditions with a status', () => {
    const old = trial.created(named({}) as never)
    expect(trial.statusRefusals(old, { conditions: [{ type: 'Available', status: 'Maybe' }] })).toEqual([
      'status.conditions[0].status: Unsupported value: "Maybe": supported values: "True", "False", "Unknown"',
    ])
  })
})
