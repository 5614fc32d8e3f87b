import { findLocalServer, type LocalStatus } from '../serving/local-door.ts'
import { checkCertificates } from './certificate-check.ts'
import { checkDisk } from './disk-check.ts'
import { checkEtcd } from './etcd-check.ts'
import { type Check, type DoctorOptions, type Finding, type Patient, problem } from './finding.ts'
import { checkClock, checkNode, checkRuntime } from './machine-check.ts'
import { checkServer } from './server-check.ts'
import { checkStore } from './store-check.ts'

export type { DoctorOptions, Finding } from './finding.ts'

/** All checks in the order of the report. */
const checks: readonly [name: string, check: Check][] = [
  ['node', checkNode],
  ['clock', checkClock],
  ['disk', checkDisk],
  ['store', checkStore],
  ['etcd', checkEtcd],
  ['certificates', checkCertificates],
  ['server', checkServer],
  ['runtime', checkRuntime],
]

/** Examines the requirements of a server, running or not. Changes nothing. */
export async function examine(options: DoctorOptions): Promise<Finding[]> {
  const { running, findings } = await findRunning(options)
  const patient: Patient = { ...options, running }
  for (const [name, check] of checks) {
    try {
      findings.push(...(await check(patient)))
    } catch (e) {
      findings.push(problem(name, (e as Error).message, 'This check failed'))
    }
  }
  return findings
}

async function findRunning({ dataDir }: DoctorOptions): Promise<{ running: Patient['running']; findings: Finding[] }> {
  try {
    const server = await findLocalServer(dataDir)
    if (!server) return { running: undefined, findings: [] }
    for await (const status of server.ask<LocalStatus>('status')) return { running: { server, status }, findings: [] }
    throw new Error(`process ${server.pid} does not answer`)
  } catch (e) {
    const help = 'If that process is suspended, resume it; if it hangs, check its log and stop it'
    return { running: undefined, findings: [problem('server', (e as Error).message, help)] }
  }
}
