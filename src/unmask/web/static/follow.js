// Tell how far a job is without loading the page again; without this file the page loads itself every two seconds.
"use strict";
const box = document.querySelector("[data-follow]");
const look = async () => {
  try {
    const answer = await fetch(box.dataset.follow, { credentials: "same-origin", redirect: "error" });
    if (!answer.ok) throw new Error(String(answer.status));
    const now = await answer.json();
    if (now.state !== box.dataset.state) return location.reload();
    box.querySelector("progress").value = now.done;
    const words = box.querySelector("[data-words]");
    if (words.textContent !== now.words) words.textContent = now.words;
  } catch (error) {
    box.querySelector("[data-words]").textContent = "unmask does not answer: was it ended?";
  }
  setTimeout(look, 1000);
};
if (box) setTimeout(look, 500);
