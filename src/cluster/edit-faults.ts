import { readFile } from 'node:fs/promises'
import { systemClock } from '../base/clock.ts'
import { Client, HttpTransport, loadAccess } from '../client/index.ts'
import { type FaultRule, addFaults, asFaultRule, clearFaults, listFaults, parseFaults } from '../node/index.ts'

export interface FaultPlanOptions {
  /** Undefined: as kubectl finds it. */
  kubeconfig: string | undefined
  release: string
}

async function withClient<T>({ kubeconfig, release }: FaultPlanOptions, work: (client: Client) => Promise<T>): Promise<T> {
  const client = new Client(new HttpTransport(await loadAccess({ file: kubeconfig }), { userAgent: `coxswain-fault/${release} (${process.platform}/${process.arch})` }))
  try {
    return await work(client)
  } finally {
    await client.close()
  }
}

/** Puts one fault into the cluster's plan. Throws an error that names the field where something is wrong with it. */
export const addFault = (options: FaultPlanOptions, fault: Record<string, unknown>): Promise<FaultRule[]> =>
  withClient(options, async (client) => {
    const rule = asFaultRule(fault, 'fault')
    await addFaults(client, [rule], systemClock.now())
    return [rule]
  })

/** Puts all faults of a file into the cluster's plan. */
export const addFaultFile = (options: FaultPlanOptions, file: string): Promise<FaultRule[]> =>
  withClient(options, async (client) => {
    const rules = await parseFaults(await readFile(file, 'utf8'))
    await addFaults(client, rules, systemClock.now())
    return rules
  })

/** What the cluster's plan says. */
export const faultsOf = (options: FaultPlanOptions): Promise<{ rules: FaultRule[]; problems: string[] }> => withClient(options, listFaults)

/** Takes faults out of the cluster's plan by their names, all of them without any; answers which. */
export const removeFaults = (options: FaultPlanOptions, names: readonly string[]): Promise<string[]> => withClient(options, (client) => clearFaults(client, names))
