import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { Command, CommanderError } from 'commander'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { addControllerFlags, readControllerFlags } from './controller-flags.ts'

let dir: string

beforeEach(() => {
  dir = mkdtempSync(path.join(tmpdir(), 'controller-flags-'))
})

afterEach(() => rmSync(dir, { recursive: true }))

async function read(...args: string[]) {
  const command = addControllerFlags(new Command('x').exitOverride().configureOutput({ writeErr: () => {} }))
  command.parse(args, { from: 'user' })
  return readControllerFlags(command, '1.2.3')
}

const lease = { namespace: 'kube-system', name: 'kube-controller-manager', leaseDurationMs: 15_000, renewDeadlineMs: 10_000, retryPeriodMs: 2000 }

describe('the flags of controllers', () => {
  it('have the defaults of Kubernetes', async () => {
    const options = await read()
    expect(options).toMatchObject({ kubeconfig: undefined, selection: ['*'], election: lease, bindAddress: '127.0.0.1', securePort: 0, rootCaFile: undefined, volumesDir: '/var/lib/coxswain/volumes', release: '1.2.3' })
    expect(options.signing).toEqual({ certificateFile: undefined, keyFile: undefined, longestMs: 31_536_000_000 })
    expect([...options.workers]).toEqual([])
  })

  it('are read', async () => {
    const options = await read('--kubeconfig', 'k', '--controllers', '*,-job-controller', '--root-ca-file', 'ca', '--secure-port', '10257', '--volumes-dir', '/mnt/v', '--feature-gates', 'DaemonSetConditions=false')
    expect(options).toMatchObject({ kubeconfig: 'k', selection: ['*', '-job-controller'], rootCaFile: 'ca', securePort: 10_257, volumesDir: '/mnt/v' })
    expect(options.gates.enabled('DaemonSetConditions')).toBe(false)
  })

  it.each([
    ['on', ['--leader-elect'], lease],
    ['on, said twice', ['--leader-elect=true'], lease],
    ['off', ['--leader-elect=false'], undefined],
    [
      'elsewhere and slower',
      ['--leader-elect-resource-namespace', 'ns', '--leader-elect-resource-name', 'ours', '--leader-elect-lease-duration', '1m30s', '--leader-elect-renew-deadline', '1m', '--leader-elect-retry-period', '1.5s'],
      { namespace: 'ns', name: 'ours', leaseDurationMs: 90_000, renewDeadlineMs: 60_000, retryPeriodMs: 1500 },
    ],
  ])('switch the election %s', async (_, args, election) => {
    expect((await read(...args)).election).toEqual(election)
  })

  it('say how many objects a controller works on at the same time', async () => {
    const { workers } = await read('--concurrent-deployment-syncs', '7', '--concurrent-cron-job-syncs=2')
    expect(Object.fromEntries(workers)).toEqual({ 'deployment-controller': 7, 'cronjob-controller': 2 })
  })

  it('come from a file, too', async () => {
    const file = path.join(dir, 'config.yaml')
    writeFileSync(file, 'controllers: [job-controller]\nleader-elect: false\nconcurrent-job-syncs: 3\n')
    const options = await read('--config', file, '--concurrent-job-syncs', '4')
    expect(options).toMatchObject({ selection: ['job-controller'], election: undefined })
    expect(options.workers.get('job-controller')).toBe(4)
  })

  it.each([
    ['an election that is neither on nor off', ['--leader-elect=1'], /must be true or false/],
    ['a duration without a unit', ['--leader-elect-lease-duration', '15'], /must be a duration such as 15s or 1m30s/],
    ['a duration of nothing', ['--leader-elect-retry-period', '0s'], /must be a duration/],
    ['volumes below no root', ['--volumes-dir', 'volumes'], /must be an absolute path/],
    ['no workers', ['--concurrent-gc-syncs', '0'], /must be a number from 1 to 999999/],
  ])('are refused: %s', async (_, args, message) => {
    const error = await read(...args).catch((e: unknown) => e)
    expect(error).toBeInstanceOf(CommanderError)
    expect((error as Error).message).toMatch(message)
  })
})
