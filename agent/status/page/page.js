"use strict";
// Without this script the page loads itself anew every ten seconds. With it, the parts that have changed are put in
// place every two, so that what has the focus keeps it, and links within the page load no other one.
(() => {
	const EVERY = 2000, TYPING = 250, TIMEOUT = 10000;
	const clock = document.getElementById("clock"), pause = document.getElementById("pause");
	const stale = document.getElementById("stale");
	let asked = 0, paused = false, shown = new Date().toLocaleTimeString(), timer, typing;

	const key = (node) => node.id || "";

	function sync(old, now) {
		for (const name of old.getAttributeNames())
			if (!now.hasAttribute(name) && !(name === "open" && old.tagName === "DETAILS"))
				old.removeAttribute(name);
		for (const name of now.getAttributeNames())
			if (old.getAttribute(name) !== now.getAttribute(name))
				old.setAttribute(name, now.getAttribute(name));
	}

	// Makes @old what @now is, and keeps what is the same: by its id, or by its place.
	function morph(old, now) {
		if (old.isEqualNode(now) || old === document.activeElement && old.tagName === "INPUT")
			return;
		sync(old, now);
		const known = new Map();
		for (const child of old.children)
			if (key(child))
				known.set(key(child), child);
		let at = old.firstChild;
		for (const child of [...now.childNodes]) {
			let same = child.nodeType === 1 && key(child) ? known.get(key(child)) : at;
			if (!same || same.nodeName !== child.nodeName || key(same) !== key(child)) {
				old.insertBefore(child, at);
				continue;
			}
			if (same === at)
				at = at.nextSibling;
			else
				old.insertBefore(same, at);
			if (same.nodeType === 1)
				morph(same, child);
			else if (same.nodeValue !== child.nodeValue)
				same.nodeValue = child.nodeValue;
		}
		while (at) {
			const next = at.nextSibling;
			at.remove();
			at = next;
		}
	}

	// The node's name, and the agent's version.
	const whose = (page) => page.title + " " + page.querySelector("header p")?.textContent;

	// What is of another node, as at the end of another tunnel, or of another version, is loaded as a whole: its figures
	// do not stand below this one's name, nor before this one's script. While paused, only who asks for it gets it.
	// Returns whether it is shown.
	function show(text) {
		const page = new DOMParser().parseFromString(text, "text/html"), now = page.getElementById("main");
		if (now && whose(page) !== whose(document)) {
			location.reload();
			return false;
		}
		const focus = document.activeElement && document.activeElement.id;
		morph(document.getElementById("main"), now);
		if (focus && document.activeElement.id !== focus)
			document.getElementById(focus)?.focus();
		shown = new Date().toLocaleTimeString();
		clock.textContent = "as of " + shown;
		clock.className = "";
		stale.textContent = "";
		return true;
	}

	// What is there is old, and looks so until it is shown anew. That is read out once, not with each try.
	function fail(error) {
		clock.textContent = "the agent does not answer, this is as of " + shown + ": " + error.message;
		clock.className = "bad";
		document.getElementById("main").className = "old";
		if (!stale.textContent)
			stale.textContent = "The agent does not answer: what is here is as of " + shown + ".";
	}

	async function load() {
		const turn = ++asked;
		clearTimeout(timer);
		try {
			const signal = AbortSignal.timeout?.(TIMEOUT); // browsers before 2022 wait
			const answer = await fetch(location.href, { cache: "no-store", signal });
			const text = await answer.text();
			if (turn !== asked)
				return;
			if (answer.status === 403)
				return location.reload();
			if (!answer.ok)
				throw new Error("HTTP status " + answer.status);
			if (!show(text))
				return;
		} catch (error) {
			if (turn === asked)
				fail(error);
		}
		plan();
	}

	function plan() {
		clearTimeout(timer);
		if (!paused && !document.hidden)
			timer = setTimeout(load, EVERY);
	}

	function go(address) {
		history.replaceState(null, "", address);
		load();
	}

	function search(form) {
		go("/?" + new URLSearchParams(new FormData(form)));
	}

	document.addEventListener("click", (event) => {
		const link = event.target.closest("#main a");
		if (!link || event.ctrlKey || event.metaKey || event.shiftKey || link.origin !== location.origin ||
			link.pathname !== "/")
			return;
		event.preventDefault();
		go(link.href);
	});
	document.addEventListener("submit", (event) => {
		event.preventDefault();
		search(event.target);
	});
	document.addEventListener("input", (event) => {
		clearTimeout(typing);
		typing = setTimeout(search, TYPING, event.target.form);
	});
	document.addEventListener("visibilitychange", () => (document.hidden || paused ? plan() : load()));
	pause.hidden = false;
	pause.addEventListener("click", () => {
		paused = !paused;
		pause.textContent = paused ? "Go on" : "Pause";
		pause.setAttribute("aria-pressed", paused);
		if (!paused)
			return load();
		clearTimeout(timer);
		asked++; // what is under way is not shown, either
	});
	clock.textContent = "as of " + shown;
	plan();
})();
