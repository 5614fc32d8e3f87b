import { describe, expect, it } from 'vitest'
import type { APIService } from '../../api/generated/types.ts'
import { compareGroups } from '../discovery/order.ts'
import { localApiService, syncLocalApiServices } from './local-api-services.ts'
import { ServerTrial } from '../server-trial.ts'

const services = (parts: ServerTrial['parts']) =>
  parts.access.list<APIService>('apiregistration.k8s.io', 'apiservices', '')
const names = (parts: ServerTrial['parts']) => services(parts).map(({ metadata }) => metadata.name)

describe('syncLocalApiServices()', () => {
  it('makes one for each group and version, which is available', async () => {
    const { parts } = await ServerTrial.open()
    await syncLocalApiServices(
      parts,
      [{ group: '', version: 'v1' }, { group: '', version: 'v1' }, { group: 'apps', version: 'v1' }],
    )
    expect(names(parts)).toEqual(['v1.', 'v1.apps'])
    expect(services(parts)[1]).toMatchObject({
      metadata: { labels: { 'kube-aggregator.kubernetes.io/automanaged': 'onstart' } },
      spec: { group: 'apps', version: 'v1', groupPriorityMinimum: 17_800, versionPriority: 15 },
      status: { conditions: [{ type: 'Available', status: 'True', reason: 'Local' }] },
    })
  })

  it('writes nothing the second time, and removes what is served no more', async () => {
    const { parts } = await ServerTrial.open()
    const both = [{ group: '', version: 'v1' }, { group: 'example.com', version: 'v1' }]
    await syncLocalApiServices(parts, both)
    const before = parts.objects.revision
    await syncLocalApiServices(parts, both)
    expect(parts.objects.revision).toBe(before)
    await syncLocalApiServices(parts, both.slice(0, 1))
    expect(names(parts)).toEqual(['v1.'])
  })
})

it('localApiService() ranks groups in the order in which discovery lists them', () => {
  const groups = [
    '', 'apps', 'events.k8s.io', 'authentication.k8s.io', 'authorization.k8s.io', 'autoscaling', 'batch',
    'certificates.k8s.io', 'networking.k8s.io', 'policy', 'rbac.authorization.k8s.io', 'storage.k8s.io',
    'admissionregistration.k8s.io', 'scheduling.k8s.io', 'coordination.k8s.io', 'node.k8s.io', 'discovery.k8s.io',
    'resource.k8s.io', 'flowcontrol.apiserver.k8s.io', 'example.com',
  ]
  expect([...groups].sort(compareGroups)).toEqual(groups)
  const ranks = groups.map((group) => localApiService({ group, version: 'v1' }).spec.groupPriorityMinimum)
  expect(ranks).toEqual([...ranks].sort((a, b) => b - a))
})
