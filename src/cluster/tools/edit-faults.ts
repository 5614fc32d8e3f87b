import { readFile } from 'node:fs/promises'
import { systemClock } from '../../base/clock.ts'
import { Client, HttpTransport, loadAccess } from '../../client/index.ts'
import { type FaultRule, addFaults, asFaultRule, clearFaults, listFaults, parseFaults } from '../../node/index.ts'

export interface FaultPlanOptions {
  /** Default: as kubectl finds it. */
  kubeconfig: string | undefined
  release: string
}

async function withClient<T>(
  { kubeconfig, release }: FaultPlanOptions,
  work: (client: Client) => Promise<T>,
): Promise<T> {
  const client = new Client(
    new HttpTransport(await loadAccess({ file: kubeconfig }), {
      userAgent: `coxswain-fault/${release} (${process.platform}/${process.arch})`,
    }),
  )
  try {
    return await work(client)
  } finally {
    await client.close()
  }
}

/** Adds a fault to the cluster's plan. Throws an error that names the invalid field. */
export const addFault = (options: FaultPlanOptions, fault: Record<string, unknown>): Promise<FaultRule[]> =>
  withClient(options, async (client) => {
    const rule = asFaultRule(fault, 'fault')
    await addFaults(client, [rule], systemClock.now())
    return [rule]
  })

/** Adds all faults of a file to the cluster's plan. */
export const addFaultFile = (options: FaultPlanOptions, file: string): Promise<FaultRule[]> =>
  withClient(options, async (client) => {
    const rules = await parseFaults(await readFile(file, 'utf8'))
    await addFaults(client, rules, systemClock.now())
    return rules
  })

/** Returns the cluster's plan. */
export const faultsOf = (options: FaultPlanOptions): Promise<{ rules: FaultRule[]; problems: string[] }> =>
  withClient(options, listFaults)

/** Removes the named faults, or all, from the cluster's plan; returns their names. */
export const removeFaults = (options: FaultPlanOptions, names: readonly string[]): Promise<string[]> =>
  withClient(options, (client) => clearFaults(client, names))
