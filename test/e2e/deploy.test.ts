import path from 'node:path'
import { expect, it } from 'vitest'
import { textOf } from '../integration/stock/rights.ts'
import { type AuditEvent, isRefused, rightIn, useAuditLog } from '../kubectl/audit-log.ts'
import { useEverything } from '../kubectl/cluster.ts'
import { useOwnImage } from '../kubectl/own-image.ts'

const root = path.resolve(import.meta.dirname, '../..')
const account = (part: string) => `system:serviceaccount:coxswain-system:coxswain-${part}`
const audit = useAuditLog(['publisher', 'monitor'].map(account))
const cluster = useEverything(['--runtime', 'process', '--image-catalogue', useOwnImage(), ...audit.flags])

it('the kustomize bases run this package as pods that need no other right than theirs', async () => {
  const { kubectl } = cluster
  await kubectl.ok(`apply -k ${root}/deploy/kustomize/base`)
  await kubectl.ok(`apply -k ${root}/deploy/kustomize/monitor`)
  await kubectl.ok('-n coxswain-system wait deployment --all --for=condition=Available --timeout=60s')
  expect(await kubectl.ok('-n coxswain-system get pods -o jsonpath={.items[*].status.phase}')).toBe('Running Running Running')
  const words = (event: AuditEvent) => `${event.user.username.replace(/^.*-/, '')} ${textOf(rightIn(event))}`
  const watches = ['publisher watch pods', 'publisher watch statefulsets.apps', 'publisher watch workloadstatuses.coxswain.dev', 'monitor watch pods']
  // A publisher is ready before it is known which of the two acts.
  await expect.poll(() => audit.events().map(words), { timeout: 60_000 }).toEqual(expect.arrayContaining(watches))
  expect(audit.events().filter(isRefused).map(words)).toEqual([])
  await kubectl.ok(`delete -k ${root}/deploy/kustomize/monitor --wait=false`)
  await kubectl.ok(`delete -k ${root}/deploy/kustomize/base --ignore-not-found --timeout=60s`)
  expect((await kubectl.run('get workloads')).err).toContain("the server doesn't have a resource type")
}, 120_000)
