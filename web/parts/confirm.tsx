import { useEffect, useRef, useState } from 'preact/hooks'
import { Refused, tell } from '../api.ts'

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
  uid: string
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
  /** The number of dry runs of the same value. */
  const [tries, setTries] = useState(0)
  const [note, setNote] = useState('')
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
    const timer = setTimeout(() => void tryIt(), value === wish.field?.value || !wish.field ? 0 : 250)
    return () => {
      isGone = true
      clearTimeout(timer)
    }
  }, [value, tries])
  const submit = async (e: Event) => {
    e.preventDefault()
    if (!told) return
    setBusy(true)
    setNote('')
    try {
      const { sentence, uid } = told
      await tell<Told>(wish.path, { ...body(), confirmed: { sentence, uid } })
      done(sentence)
    } catch (failure) {
      setBusy(false)
      setTold(undefined)
      if (!(failure instanceof Refused && failure.code === 409)) return setError((failure as Error).message)
      // The effect is another one now. It is shown, to be confirmed again.
      setNote(`It was not done: ${failure.message}`)
      setTries(tries + 1)
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
              onInput={(e) => {
                // The sentence is the one of the previous value.
                setTold(undefined)
                setError('')
                setValue(e.currentTarget.value)
              }}
            />
          </label>
        )}
        {note && (
          <p class="error" role="alert">
            {note}
          </p>
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
