import { describe, expect, it } from 'vitest'
import { ApiError } from '../../../api/errors.ts'
import type { LimitRangeItem } from '../../../api/generated/types.ts'
import type { Resource } from '../../registry/resource.ts'
import type { AdmissionRequest } from '../admission.ts'
import { limitRanger } from './limit-ranger.ts'

const container = (resources: object = {}, name = 'c') => ({ name, image: 'i', resources })
const pod = (...containers: object[]) => ({ metadata: { name: 'p' }, spec: { containers } as any }) as any
const range = (...limits: LimitRangeItem[]) => ({ metadata: { name: 'r' }, spec: { limits } })

function requestOf(object: any, ranges: object[], more: Partial<AdmissionRequest> = {}): AdmissionRequest {
  const reader = { get: () => undefined, list: () => ranges as never[] }
  const resource = { group: '', plural: object.spec.containers ? 'pods' : 'persistentvolumeclaims', namespaced: true } as Resource
  return {
    operation: 'CREATE', resource, subresource: '', namespace: 'ns', name: object.metadata.name, object, old: undefined,
    user: { name: 'u', groups: [] }, dryRun: false, warnings: [], reader, now: 0, ...more,
  }
}

function refusalOf(object: any, limits: LimitRangeItem[], more: Partial<AdmissionRequest> = {}): string {
  try {
    limitRanger.validate!(requestOf(object, [range(...limits)], more))
  } catch (e) {
    if (e instanceof ApiError) return `${e.code} ${e.message}`
    throw e
  }
  return ''
}

function filled(object: any, ...ranges: object[]): any {
  limitRanger.admit!(requestOf(object, ranges))
  return object
}

describe('LimitRanger fills in', () => {
  const item = { type: 'Container', default: { cpu: '2', memory: '1Gi' }, defaultRequest: { cpu: '1' } }

  it('what a container does not say, and says so', () => {
    const { metadata, spec } = filled(pod(container({ limits: { cpu: '3' } }), container({ requests: { cpu: '1m' } }, 'd')), range(item))
    expect(spec.containers.map((c: any) => c.resources)).toEqual([
      { limits: { cpu: '3', memory: '1Gi' }, requests: { cpu: '1' } },
      { limits: { cpu: '2', memory: '1Gi' }, requests: { cpu: '1m' } },
    ])
    expect(metadata.annotations).toEqual({
      'kubernetes.io/limit-ranger': 'LimitRanger plugin set: cpu request for container c; memory limit for container c; cpu, memory limit for container d',
    })
  })

  it('init containers, too', () => {
    const object = pod(container({ limits: item.default, requests: { cpu: '1' } }))
    object.spec.initContainers = [container({}, 'init')]
    expect(filled(object, range(item)).metadata.annotations).toEqual({
      'kubernetes.io/limit-ranger': 'LimitRanger plugin set: cpu request for init container init; cpu, memory limit for init container init',
    })
  })

  it('nothing where nothing is missing, and leaves no trace', () => {
    const resources = { limits: { cpu: '3', memory: '2Gi' }, requests: { cpu: '1' } }
    expect(filled(pod(container(resources)), range(item))).toEqual(pod(container(resources)))
  })

  it('the defaults of the first range that has any', () => {
    const other = { type: 'Container', default: { cpu: '9' } }
    expect(filled(pod(container()), range(item), range(other)).spec.containers[0].resources.limits.cpu).toBe('2')
  })

  it('only defaults of containers', () => {
    expect(filled(pod(container()), range({ type: 'Pod', default: { cpu: '1' } })).metadata.annotations).toBeUndefined()
  })
})

describe('LimitRanger refuses', () => {
  const both = (requests: object, limits: object) => pod(container({ requests, limits }))
  const forbidden = (why: string) => `403 pods "p" is forbidden: ${why}`
  const rows: [what: string, item: LimitRangeItem, object: object, why: string][] = [
    ['a request below the minimum', { type: 'Container', min: { cpu: '100m' } }, both({ cpu: '50m' }, {}), 'minimum cpu usage per Container is 100m, but request is 50m'],
    ['a limit below the minimum', { type: 'Container', min: { cpu: '100m' } }, both({ cpu: '100m' }, { cpu: '70m' }), 'minimum cpu usage per Container is 100m, but limit is 70m'],
    ['no request where there is a minimum', { type: 'Container', min: { memory: '1Mi' } }, both({}, {}), 'minimum memory usage per Container is 1Mi.  No request is specified'],
    ['a limit above the maximum', { type: 'Container', max: { cpu: '1' } }, both({}, { cpu: '1001m' }), 'maximum cpu usage per Container is 1, but limit is 1001m'],
    ['a request above the maximum', { type: 'Container', max: { cpu: '1' } }, both({ cpu: '2' }, { cpu: '1' }), 'maximum cpu usage per Container is 1, but request is 2'],
    ['no limit where there is a maximum', { type: 'Container', max: { cpu: '1' } }, both({ cpu: '1' }, {}), 'maximum cpu usage per Container is 1.  No limit is specified'],
    [
      'a limit too far above the request',
      { type: 'Container', maxLimitRequestRatio: { cpu: '2' } },
      both({ cpu: '300m' }, { cpu: '1' }),
      'cpu max limit to request ratio per Container is 2, but provided ratio is 3.333333',
    ],
    [
      'no request to compare a limit with',
      { type: 'Container', maxLimitRequestRatio: { cpu: '2' } },
      both({ cpu: '0' }, { cpu: '1' }),
      'cpu max limit to request ratio per Container is 2, but no request is specified or request is 0',
    ],
    [
      'no limit to compare a request with',
      { type: 'Container', maxLimitRequestRatio: { cpu: '2' } },
      both({ cpu: '1' }, {}),
      'cpu max limit to request ratio per Container is 2, but no limit is specified or limit is 0',
    ],
    [
      'several things at once, each said once',
      { type: 'Container', min: { cpu: '1', memory: '1Gi' }, max: { cpu: '2' } },
      pod(container(), container({}, 'd')),
      '[minimum cpu usage per Container is 1.  No request is specified, minimum memory usage per Container is 1Gi.  No request is specified, ' +
        'maximum cpu usage per Container is 2.  No limit is specified]',
    ],
    [
      'a pod whose containers ask for too much together',
      { type: 'Pod', max: { cpu: '1' } },
      pod(container({ limits: { cpu: '600m' } }), container({ limits: { cpu: '600m' } }, 'd')),
      'maximum cpu usage per Pod is 1, but limit is 1200m',
    ],
  ]
  it.each(rows)('%s', (_, item, object, why) => expect(refusalOf(object, [item])).toBe(forbidden(why)))

  it('an init container as any other', () => {
    const object = pod(container({ requests: { cpu: '1' } }))
    object.spec.initContainers = [container({ requests: { cpu: '1m' } }, 'init')]
    expect(refusalOf(object, [{ type: 'Container', min: { cpu: '1' } }])).toBe(forbidden('minimum cpu usage per Container is 1, but request is 1m'))
  })

  const claim = (storage: string) => ({ metadata: { name: 'c' }, spec: { resources: { requests: { storage } } } })
  const ofClaims = { type: 'PersistentVolumeClaim', min: { storage: '1Gi' }, max: { storage: '2Gi' } }
  it.each([
    ['too small a claim', '1Mi', '403 persistentvolumeclaims "c" is forbidden: minimum storage usage per PersistentVolumeClaim is 1Gi, but request is 1Mi'],
    ['too large a claim', '3Gi', '403 persistentvolumeclaims "c" is forbidden: maximum storage usage per PersistentVolumeClaim is 2Gi, but request is 3Gi'],
    ['no claim that fits', '2Gi', ''],
  ])('%s', (_, storage, expected) => expect(refusalOf(claim(storage), [ofClaims])).toBe(expected))
})

describe('LimitRanger looks at', () => {
  const item = { type: 'Container', min: { cpu: '1' } }
  it.each([
    ['a new pod', {}, true],
    ['not at a pod that gets other labels', { operation: 'UPDATE', old: pod(container()) }, false],
    ['a pod that is resized', { operation: 'UPDATE', subresource: 'resize', old: pod(container()) }, true],
    ['not at the status of a pod', { operation: 'UPDATE', subresource: 'status', old: pod(container()) }, false],
    [
      'not at what is being deleted',
      { operation: 'UPDATE', subresource: 'resize', old: { ...pod(container()), metadata: { name: 'p', deletionTimestamp: '2026-01-01T00:00:00Z' } } },
      false,
    ],
  ])('%s', (_, more, expected) => expect(refusalOf(pod(container()), [item], more as Partial<AdmissionRequest>) !== '').toBe(expected))
})
