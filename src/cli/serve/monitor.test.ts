import { Command } from 'commander'
import { describe, expect, it } from 'vitest'
import { addMonitorFlags, readMonitorFlags } from './monitor.ts'
import { addMonitorChoices, readMonitorChoices } from '../flags/monitor-flags.ts'

async function read(...args: string[]) {
  const command = addMonitorFlags(new Command('x').exitOverride().configureOutput({ writeErr: () => {} }))
  command.parse(args, { from: 'user' })
  return readMonitorFlags(command, '1.2.3')
}

describe('the flags of the monitor', () => {
  it('have defaults', async () => {
    const choices = { modes: ['pods', 'histograms'], groupBy: ['namespace', 'runtimeClass', 'storageClasses'], podGroups: [], creationTimeoutMs: 300_000, maxGroups: 1000, maxObjects: 100_000 }
    expect(await read()).toMatchObject({ ...choices, securePort: 9464, bindAddress: '127.0.0.1', election: undefined, dataDir: './.coxswain-monitor', release: '1.2.3' })
  })

  it('are read', async () => {
    const options = await read('--kubeconfig', 'k', '--port', '0', '--modes', 'histograms', '--group-by', 'volumes,label:app', '--bounds', '1,2.5', '--creation-timeout', '90s', '--slo-file', 's.yaml')
    expect(options).toMatchObject({ kubeconfig: 'k', securePort: 0, modes: ['histograms'], groupBy: ['volumes', 'label:app'], bounds: [1, 2.5], creationTimeoutMs: 90_000, sloFile: 's.yaml' })
  })

  it('can be given to a command that runs everything, where those that nobody set are left out', () => {
    const command = addMonitorChoices(new Command('up'))
    expect(readMonitorChoices(command.parse([], { from: 'user' }), 'set')).toEqual({})
    const args = ['--slo-file', 's.yaml', '--group-by', 'volumes', '--creation-timeout', '1m', '--workload-series=false', '--user-objects=false', '--cluster', 'eu-1', '--max-groups', '5', '--max-objects', '6', '--modes', 'pods', '--pod-groups', 'label:app', '--bounds', '1']
    expect(readMonitorChoices(command.parse(args, { from: 'user' }), 'set')).toEqual({
      sloFile: 's.yaml', groupBy: ['volumes'], creationTimeoutMs: 60_000, workloadSeries: false, userObjects: false, cluster: 'eu-1', maxGroups: 5, maxObjects: 6, modes: ['pods'],
      podGroups: ['label:app'], bounds: [1],
    })
  })

  it.each([
    ['a mode that there is not', ['--modes', 'pods,graphs'], /must be of pods, histograms/],
    ['a bound that is no time', ['--bounds', '1,-2'], /must be numbers of seconds/],
    ['no mode at all', ['--modes', ''], /must not be empty/],
    ['a cluster without a name', ['--cluster', ''], /must not be empty/],
    ['no directory', ['--data-dir', ''], /must not be empty/],
    ['no address, which would be all of them', ['--bind-address', ''], /must not be empty/],
    ['no groups at all', ['--max-groups', '0'], /must be a number from 1/],
  ])('are refused: %s', async (_, args, message) => {
    await expect(async () => read(...args)).rejects.toThrow(message)
  })
})
