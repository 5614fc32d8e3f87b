import { Command } from 'commander'
import { describe, expect, it } from 'vitest'
import { addSchedulerFlags, readSchedulerFlags } from './scheduler.ts'

async function read(...args: string[]) {
  const command = addSchedulerFlags(new Command('x').exitOverride().configureOutput({ writeErr: () => {} }))
  command.parse(args, { from: 'user' })
  return readSchedulerFlags(command, '1.2.3')
}

describe('the flags of the scheduler', () => {
  it('have the defaults of Kubernetes', async () => {
    const election = { namespace: 'kube-system', name: 'kube-scheduler' }
    expect(await read()).toMatchObject({ schedulerName: 'default-scheduler', percentageOfNodesToScore: 0, election, securePort: 0, release: '1.2.3' })
  })

  it('are read', async () => {
    const options = await read('--kubeconfig', 'k', '--scheduler-name', 'ours', '--percentage-of-nodes-to-score', '30', '--leader-elect=false')
    expect(options).toMatchObject({ kubeconfig: 'k', schedulerName: 'ours', percentageOfNodesToScore: 30, election: undefined })
  })

  it('are refused: more than all nodes', async () => {
    await expect(async () => read('--percentage-of-nodes-to-score', '101')).rejects.toThrow(/must be a number from 0 to 100/)
  })
})
