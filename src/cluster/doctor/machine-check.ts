import { existsSync } from 'node:fs'
import { tmpdir, totalmem } from 'node:os'
import { getHeapStatistics } from 'node:v8'
import { processIsolation } from '../../node/index.ts'
import { type Check, ok, problem, sizeText, warning } from './finding.ts'

const oldestNode = [20, 19] as const

/** Checks the release of Node and its memory limit. */
export const checkNode: Check = ({ running }) => {
  const version = running?.status.nodeVersion ?? process.version
  const [major = 0, minor = 0] = version.slice(1).split('.').map(Number)
  if (major < oldestNode[0] || (major === oldestNode[0] && minor < oldestNode[1])) {
    return [problem('node', `Node ${version} is too old`, `Install Node ${oldestNode.join('.')} or newer`)]
  }
  const heap = getHeapStatistics().heap_size_limit
  const memory = process.constrainedMemory?.() || totalmem()
  return [
    ok(
      'node',
      `Node ${version}; a server may use ${sizeText(heap)} of heap, of ${sizeText(Math.min(memory, totalmem()))} of memory`,
    ),
  ]
}

/** No release of this program is older than this. */
const earliestMs = Date.UTC(2025, 0, 1)

const timeServices = [
  '/run/systemd/timesync/synchronized',
  '/run/chrony/chronyd.pid',
  '/run/chrony/chronyd.sock',
  '/run/ntpd.pid',
  '/var/run/ntpd.pid',
]

/** Checks the clock of this machine. */
export const checkClock: Check = ({ nowMs, store }) => {
  const now = new Date(nowMs).toISOString()
  if (nowMs < earliestMs)
    return [problem('clock', `the clock of this machine says ${now}: certificates are not valid yet`, 'Set the clock')]
  const service = timeServices.find((file) => existsSync(file))
  const message = `it is ${now}; ${service ? `a time service keeps the clock right (${service})` : 'no time service was found'}`
  if (!service && store === 'etcd')
    return [
      warning(
        'clock',
        message,
        'Run chrony or systemd-timesyncd on every machine: leases and certificates compare times of several',
      ),
    ]
  return [ok('clock', message)]
}

/** Checks whether this machine can isolate pods. */
export const checkRuntime: Check = async () => {
  const { isIsolated, why } = await processIsolation(tmpdir())
  if (isIsolated)
    return [
      ok(
        'runtime',
        'runtime process: each pod has its own user and root directory; runtime simulated has no requirements',
      ),
    ]
  return [
    warning(
      'runtime',
      `runtime process: pods are not isolated from each other or from this machine, because ${why}`,
      'Start as root on Linux with util-linux, or use --runtime simulated',
    ),
  ]
}
