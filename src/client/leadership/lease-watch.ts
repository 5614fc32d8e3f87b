import type { Lease } from '../../api/generated/types.ts'
import type { Client } from '../client.ts'
import { leases } from '../resources.ts'

/** Watches a lease. This only saves time: callers must also poll, because a watch may fail or be forbidden. */
export class LeaseWatch {
  readonly #client: Client
  readonly #namespace: string
  readonly #name: string
  readonly #onChange: (lease: Lease) => void
  #end: (() => void) | undefined

  constructor(client: Client, namespace: string, name: string, onChange: (lease: Lease) => void) {
    this.#client = client
    this.#namespace = namespace
    this.#name = name
    this.#onChange = onChange
  }

  /** Opens the watch if it is closed. */
  open(): void {
    if (this.#end) return
    let isOpen = true
    const close = () => {
      isOpen = false
      if (this.#end === end) this.#end = undefined
    }
    const end = this.#client.watch(
      leases,
      this.#namespace,
      { fieldSelector: `metadata.name=${this.#name}` },
      {
        opened: () => {},
        event: ({ type, object }) => {
          if (isOpen && (type === 'ADDED' || type === 'MODIFIED')) this.#onChange(object)
        },
        closed: close,
      },
    )
    if (isOpen) this.#end = end
  }

  close(): void {
    const end = this.#end
    this.#end = undefined
    end?.()
  }
}
