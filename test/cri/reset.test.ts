import { existsSync } from 'node:fs'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { runCoxswain } from '../kubectl/coxswain.ts'
import { Machine, podOf } from './machine.ts'

let machine: Machine
beforeAll(async () => {
  machine = await Machine.start()
})
afterAll(() => machine.remove())

it('coxswain reset ends the containers that a stopped node has left, with their mounts', async () => {
  const volumes = [{ name: 'scratch', emptyDir: { medium: 'Memory' } }]
  const volumeMounts = [{ name: 'scratch', mountPath: '/scratch', subPath: 'part' }]
  await machine.create(podOf('left', { volumes }, { command: ['sleep', '100000'], volumeMounts }))
  await machine.ready('left')
  expect(await machine.server.stop()).toMatchObject({ code: 0 })
  expect((await machine.containerd.ctr('containers', 'ls', '-q')).trim()).not.toBe('')
  const removed = { code: 0, out: `removed ${machine.dataDir}; ended 1 pod that still ran\n`, err: '' }
  expect(await runCoxswain(['reset', '--yes', '--data-dir', machine.dataDir])).toEqual(removed)
  expect(existsSync(machine.dataDir)).toBe(false)
  expect((await machine.containerd.ctr('containers', 'ls', '-q')).trim()).toBe('')
  expect(machine.containerd.addresses()).toEqual([])
}, 60_000)
