import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { expect, it, onTestFinished } from 'vitest'
import { CgroupTree, limitFiles, weightOf } from './cgroups.ts'

it.each([[2, 1], [1024, 39], [262_144, 10_000]])('weightOf(%i) is %i', (shares, weight) => {
  expect(weightOf(shares)).toBe(weight)
})

const limits = { cpuShares: 512, cpuQuota: 50_000, cpuPeriod: 100_000, memoryLimitBytes: 1 << 20, hugepages: {} }

it('limitFiles() names the files of either version', () => {
  expect(limitFiles(1, limits, 100)).toEqual({
    cpu: [['cpu.shares', '512'], ['cpu.cfs_period_us', '100000'], ['cpu.cfs_quota_us', '50000']], memory: [['memory.limit_in_bytes', '1048576']], pids: [['pids.max', '100']],
  })
  expect(limitFiles(2, limits, undefined)).toEqual({ cpu: [['cpu.weight', '20'], ['cpu.max', '50000 100000']], memory: [['memory.max', '1048576']], pids: [] })
})

it.each([
  [false, 'Guaranteed', '/tree-1/podu-1'],
  [false, 'BestEffort', '/tree-1/besteffort/podu-1'],
  [true, 'Guaranteed', 'tree_1-podu_1.slice'],
  [true, 'Burstable', 'tree_1-burstable-podu_1.slice'],
] as const)('parentOf(): with systemd %s, %s pods are in %s', (usesSystemd, qosClass, expected) => {
  expect(new CgroupTree({ mount: '/nowhere', name: 'tree-1', usesSystemd }).parentOf('u-1', qosClass)).toBe(expected)
})

it('CgroupTree.pods() finds the pods of every quality of service, in either version', async () => {
  const mount = mkdtempSync(path.join(tmpdir(), 'coxswain-cgroups-'))
  onTestFinished(() => rmSync(mount, { recursive: true }))
  const below = ['tree/podg', 'tree/burstable/podb', 'tree/besteffort/podx', 'other/podo']
  for (const folder of below) mkdirSync(path.join(mount, 'memory', folder), { recursive: true })
  mkdirSync(path.join(mount, 'cpu/tree/burstable/podb'), { recursive: true })
  const tree = () => new CgroupTree({ mount, name: 'tree', usesSystemd: false }).pods()
  expect((await tree()).sort()).toEqual(['b', 'g', 'x'])
  for (const folder of below) mkdirSync(path.join(mount, `${folder}2`), { recursive: true })
  writeFileSync(path.join(mount, 'cgroup.controllers'), 'cpu memory pids')
  expect((await tree()).sort()).toEqual(['b2', 'g2', 'x2'])
})
