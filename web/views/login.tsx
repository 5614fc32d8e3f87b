import { useState } from 'preact/hooks'
import { tell } from '../api.ts'

/** Login with a token, for users without a valid link. */
export function LoginView({ wasUsed, next }: { wasUsed: boolean; next: string }) {
  const [token, setToken] = useState('')
  const [error, setError] = useState('')
  const submit = async (e: Event) => {
    e.preventDefault()
    try {
      await tell('login', { token })
      // The page never redirects to another site.
      location.assign(new URL(next, location.origin).origin === location.origin ? next : '/')
    } catch (failure) {
      setError((failure as Error).message)
    }
  }
  return (
    <main class="login">
      <h1>Coxswain</h1>
      {wasUsed && <p role="status">This link has been used, or is an old one: each works once.</p>}
      <form onSubmit={submit}>
        <label>
          Log in with a token
          <input type="password" autocomplete="off" value={token} onInput={(e) => setToken(e.currentTarget.value)} />
        </label>
        <button class="primary" disabled={!token}>
          Log in
        </button>
        {error && (
          <p class="error" role="alert">
            {error}
          </p>
        )}
      </form>
      <p class="dim">A token of a service account:</p>
      <pre>kubectl create token default</pre>
      <p class="dim">Or a new link, as the user of your kubeconfig:</p>
      <pre>coxswain dashboard</pre>
    </main>
  )
}
