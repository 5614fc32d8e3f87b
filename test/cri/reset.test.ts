import { existsSync, readdirSync } from 'node:fs'
import { afterAll, beforeAll, expect, it, vi } from 'vitest'
import { runCoxswain, startEverything } from '../kubectl/coxswain.ts'
import { commandLine } from './containerd.ts'
import { Machine, podOf } from './machine.ts'

let machine: Machine
beforeAll(async () => {
  machine = await Machine.start()
})
afterAll(() => machine.remove())

it('a node that changes its runtime ends the pods of the other first', async () => {
  const containers = async () => (await machine.containerd.ctr('containers', 'ls', '-q')).trim()
  await machine.create(podOf('moved', {}, { command: ['sleep', '123456'] }))
  await machine.ready('moved')
  expect(await machine.server.stop()).toMatchObject({ code: 0 })
  const processes = await startEverything(machine.dataDir, ['--node-name', 'here', '--runtime', 'process'])
  expect(await containers()).toBe('')
  await machine.ready('moved')
  expect(await processes.stop()).toMatchObject({ code: 0 })
  const slept = () => readdirSync('/proc').filter((pid) => /^\d+$/.test(pid) && commandLine(Number(pid)) === 'sleep 123456 ').length
  expect(slept()).toBe(1)
  await machine.start()
  await vi.waitFor(async () => expect(await containers()).not.toBe(''), { timeout: 40_000, interval: 100 })
  await machine.ready('moved')
  // The container's own.
  expect(slept()).toBe(1)
  await machine.kubectl.ok('delete pod moved --now --timeout=60s')
}, 90_000)

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
