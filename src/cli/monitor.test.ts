import { Command } from 'commander'
import { describe, expect, it } from 'vitest'
import { addMonitorFlags, readMonitorFlags } from './monitor.ts'

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

  it.each([
    ['a mode that there is not', ['--modes', 'pods,graphs'], /must be of pods, histograms/],
    ['a bound that is no time', ['--bounds', '1,-2'], /must be numbers of seconds/],
    ['no groups at all', ['--max-groups', '0'], /must be a number from 1/],
  ])('are refused: %s', async (_, args, message) => {
    await expect(async () => read(...args)).rejects.toThrow(message)
  })
})
