import { useEffect, useRef, useState } from 'preact/hooks'
import { tell } from '../api.ts'

/** A change that the user has requested and not confirmed yet. */
export interface Wish {
  title: string
  path: 'action' | 'delete-pod'
  body: Record<string, unknown>
  /** A value that the user enters. */
  field?: { name: string; label: string; value: string; isText?: boolean }
}

interface Told {
  command: string
  sentence: string
}

/**
 * Asks for confirmation of a change. Shows its effect and the equivalent command. The server has already validated it
 * in a dry run.
 */
export function Confirm({ wish, done }: { wish: Wish; done(message: string | undefined): void }) {
  const dialog = useRef<HTMLDialogElement>(null)
  const [value, setValue] = useState(wish.field?.value ?? '')
  const [told, setTold] = useState<Told | undefined>(undefined)
  const [error, setError] = useState('')
  const [isBusy, setBusy] = useState(false)
  useEffect(() => {
    dialog.current?.showModal()
  }, [])
  const body = () => {
    if (!wish.field) return wish.body
    const number = Number(value)
    return {
      ...wish.body,
      [wish.field.name]: value.trim() === '' ? null : wish.field.isText && Number.isNaN(number) ? value.trim() : number,
    }
  }
  useEffect(() => {
    let isGone = false
    const tryIt = async () => {
      try {
        const next = await tell<Told>(wish.path, { ...body(), dryRun: true })
        if (!isGone) setTold(next)
        if (!isGone) setError('')
      } catch (e) {
        if (!isGone) setTold(undefined)
        if (!isGone) setError((e as Error).message)
      }
    }
    const timer = setTimeout(() => void tryIt(), told || error ? 250 : 0)
    return () => {
      isGone = true
      clearTimeout(timer)
    }
  }, [value])
  const submit = async (e: Event) => {
    e.preventDefault()
    setBusy(true)
    try {
      const { sentence } = await tell<Told>(wish.path, body())
      done(sentence)
    } catch (failure) {
      setBusy(false)
      setError((failure as Error).message)
    }
  }
  return (
    <dialog ref={dialog} aria-label={wish.title} onClose={() => done(undefined)}>
      <form onSubmit={submit}>
        <h2>{wish.title}</h2>
        {wish.field && (
          <label>
            {wish.field.label}
            <input
              autofocus
              inputMode={wish.field.isText ? 'text' : 'numeric'}
              value={value}
              onInput={(e) => setValue(e.currentTarget.value)}
            />
          </label>
        )}
        <p class={error ? 'error' : ''} role="status">
          {error || told?.sentence || 'Asking the server …'}
        </p>
        {told && (
          <div class="command">
            <span class="dim">The same with kubectl</span>
            <code>{told.command}</code>
          </div>
        )}
        <div class="buttons">
          <button type="button" onClick={() => dialog.current?.close()}>
            Cancel
          </button>
          <button type="submit" class="primary" disabled={!told || isBusy}>
            {wish.title}
          </button>
        </div>
      </form>
    </dialog>
  )
}
