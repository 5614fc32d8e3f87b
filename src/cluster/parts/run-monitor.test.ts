import { mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { FeatureGates } from '../../api/feature-gates.ts'
import { silentLogger } from '../../base/logger.ts'
import { kubeconfigText } from '../keys/kubeconfig.ts'
import { type RunMonitorOptions, runMonitor } from './run-monitor.ts'
import { runNodes } from './run-node.ts'
import type { RunningPart } from './run-part.ts'

let dir: string
let dataDir: string
const running: RunningPart[] = []

beforeEach(() => {
  dir = mkdtempSync(path.join(tmpdir(), 'run-monitor-'))
  dataDir = path.join(dir, 'data')
  // Nobody is there: neither a monitor nor a node needs an API server to start.
  const access = kubeconfigText('https://127.0.0.1:1', 'CA\n', 'ann', { certificate: 'CERT\n', key: 'KEY\n' })
  writeFileSync(path.join(dir, 'kubeconfig'), access)
})
afterEach(async () => {
  for (const part of running.splice(0)) await part.stop()
  rmSync(dir, { recursive: true, force: true })
})

const options = (over: Partial<RunMonitorOptions> = {}): RunMonitorOptions => ({
  kubeconfig: path.join(dir, 'kubeconfig'), election: undefined, gates: FeatureGates.of(), bindAddress: '127.0.0.1', securePort: 0,
  release: '1.2.3', logger: silentLogger, dataDir, door: { serving: { kind: 'plain' } }, ...over,
})
const start = async (over: Partial<RunMonitorOptions> = {}) => running.push(await runMonitor(options(over)))
const taken = () => `the data directory ${dataDir} is in use by process ${process.pid}`

describe('a data directory', () => {
  it('has one monitor at a time', async () => {
    await start()
    await expect(start()).rejects.toThrow(taken())
    await running.pop()!.stop()
    await start()
  })

  it('is free again if the monitor could not start', async () => {
    await expect(start({ kubeconfig: path.join(dir, 'none') })).rejects.toThrow('none')
    expect(readdirSync(dataDir)).toEqual([])
    await start()
  })

  it('has one node at a time, too', async () => {
    await start()
    const node = { ...options(), nodeName: 'n', nodes: 1, runtime: 'process' as const, catalogue: undefined }
    const part = await runNodes(node as never)
    await expect(part.roleKnown()).rejects.toThrow(taken())
    await part.stop()
  })
})

it('a file of objectives that is not there is told with its flag', async () => {
  const sloFile = path.join(dir, 'slo.yaml')
  await expect(start({ sloFile })).rejects.toThrow(`--slo-file: ENOENT: no such file or directory, open '${sloFile}'`)
})
