import { afterAll, beforeAll, expect, it } from 'vitest'
import { Machine, podOf } from './machine.ts'

const count = 60

let machine: Machine
beforeAll(async () => {
  machine = await Machine.start()
})
afterAll(() => machine.remove())

interface PodReply {
  metadata: { name: string }
  status: { podIP?: string; containerStatuses?: { restartCount: number; ready: boolean }[] }
}
const pods = async () => (JSON.parse(await machine.kubectl.ok('get pods -o json')) as { items: PodReply[] }).items

it('sixty pods at once get ready, each with an address of its own, and leave nothing when they go', async () => {
  const quick = { terminationGracePeriodSeconds: 0 }
  await machine.create(...Array.from({ length: count }, (_, i) => podOf(`many-${i}`, quick, { command: ['sleep', '100000'] })))
  await expect.poll(async () => (await pods()).filter(({ status }) => status.containerStatuses?.[0]?.ready).length, { timeout: 90_000, interval: 500 }).toBe(count)
  const all = await pods()
  expect(new Set(all.map(({ status }) => status.podIP)).size).toBe(count)
  expect(all.filter(({ status }) => status.containerStatuses?.[0]?.restartCount)).toEqual([])
  await machine.kubectl.ok('delete pods --all --now --wait=false')
  await expect.poll(async () => (await pods()).length, { timeout: 60_000, interval: 500 }).toBe(0)
  await expect.poll(async () => (await machine.containerd.ctr('containers', 'ls', '-q')).trim(), { timeout: 30_000 }).toBe('')
  expect(machine.containerd.addresses()).toEqual([])
}, 200_000)
